import { useState, type FormEvent, type ReactNode } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { api } from "../api/client";
import { hashPassword, session } from "../api/session";
import { Brand } from "../Shell";
import { useSubmit } from "../ui/useSubmit";
import { ErrorNote } from "../ui/parts";

export function SignInPage(): ReactNode {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [params] = useSearchParams();
  const navigate = useNavigate();

  const { submit, isBusy, error } = useSubmit(async () => {
    await api.post("/api/v1/auth/login", {
      body: { username, password: await hashPassword(password), isHashed: true },
    });
    const next = params.get("next") ?? "/";
    session.begin();
    void navigate(next.startsWith("/") && !next.startsWith("//") ? next : "/", { replace: true });
  });
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    submit();
  };

  return (
    <div className="signin">
      <form className="panel stack" style={{ padding: "var(--s5)" }} onSubmit={onSubmit}>
        <div className="row">
          <Brand size={28} />
          <h1>Sign in to Resolute</h1>
        </div>
        <label className="field">
          <span className="label">User name</span>
          <input
            className="input"
            name="username"
            autoComplete="username"
            autoFocus
            required
            value={username}
            onChange={(event) => setUsername(event.target.value)}
          />
        </label>
        <label className="field">
          <span className="label">Password</span>
          <input
            className="input"
            name="password"
            type="password"
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </label>
        <ErrorNote error={error} />
        <button className="btn primary" style={{ height: 32 }} disabled={isBusy}>
          Sign in
        </button>
        <p className="faint">
          A new server has the users <code>determined</code> and <code>admin</code> with an empty password.
        </p>
      </form>
    </div>
  );
}
