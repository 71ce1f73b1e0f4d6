import { useState, type FormEvent, type ReactNode } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { post } from "../api/http";
import { hashPassword, session } from "../api/session";
import { Brand } from "../Shell";
import { ErrorNote } from "../ui/parts";

export function SignInPage(): ReactNode {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [params] = useSearchParams();
  const navigate = useNavigate();

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await post("/api/v1/auth/login", {
        username,
        password: hashPassword(password),
        isHashed: true,
      });
      const next = params.get("next") ?? "/";
      session.begin();
      void navigate(next.startsWith("/") && !next.startsWith("//") ? next : "/", { replace: true });
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };

  return (
    <div className="signin">
      <form className="panel stack" style={{ padding: "var(--s5)" }} onSubmit={(event) => void submit(event)}>
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
        <button className="btn primary" style={{ height: 32 }} disabled={busy}>
          Sign in
        </button>
        <p className="faint">
          A new server has the users <code>determined</code> and <code>admin</code> with an empty password.
        </p>
      </form>
    </div>
  );
}
