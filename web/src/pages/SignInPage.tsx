import { type FormEvent, type ReactNode } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { api } from "../api/client";
import { hashPassword, session } from "../api/session";
import { isOfTask, openTask } from "../api/taskPages";
import { Brand } from "../Shell";
import { TextField } from "../ui/fields";
import { useForm } from "../ui/useForm";
import { ErrorNote } from "../ui/parts";

export function SignInPage(): ReactNode {
  const [params] = useSearchParams();
  const navigate = useNavigate();

  const form = useForm({
    initial: { username: "", password: "" },
    run: async ({ username, password }) => {
      await api.post("/api/v1/auth/login", {
        body: { username, password: await hashPassword(password), isHashed: true },
      });
      const next = params.get("next") ?? "/";
      if (isOfTask(next)) return openTask(next);
      session.begin();
      void navigate(next.startsWith("/") && !next.startsWith("//") ? next : "/", { replace: true });
    },
  });
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    form.submit();
  };

  return (
    <main className="signin">
      <form className="panel stack" style={{ padding: "var(--s5)" }} onSubmit={onSubmit}>
        <div className="row">
          <Brand size={28} />
          <h1>Sign in to Resolute</h1>
        </div>
        <TextField
          label="User name"
          name="username"
          autoComplete="username"
          autoFocus
          required
          {...form.field("username")}
        />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          {...form.field("password")}
        />
        <ErrorNote error={form.error} />
        <button className="btn primary" style={{ height: 32 }} disabled={form.isBusy}>
          Sign in
        </button>
        <p className="faint">
          A new server has the users <code>determined</code> and <code>admin</code> with an empty password.
        </p>
      </form>
    </main>
  );
}
