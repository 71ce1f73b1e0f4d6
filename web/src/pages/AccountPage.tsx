import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { api } from "../api/client";
import { meQuery, tokensQuery, usersQuery } from "../api/queries";
import { hashPassword } from "../api/session";
import { formatTime } from "../text/format";
import { useFeedback } from "../ui/Feedback";
import { useSubmit } from "../ui/useSubmit";
import { Ago, Empty, ErrorNote, Loading, PageHead, Panel } from "../ui/parts";

export default function AccountPage(): ReactNode {
  const me = useQuery(meQuery).data;
  return (
    <>
      <PageHead title="Account">
        <span className="muted">{me && `Signed in as ${me.username}${me.admin ? ", admin" : ""}`}</span>
      </PageHead>
      <div className="grid two">
        <Password userId={me?.id} />
        <NewToken userId={me?.id} />
      </div>
      <Tokens />
    </>
  );
}

function Password({ userId }: { userId: number | undefined }): ReactNode {
  const [password, setPassword] = useState("");
  const { say } = useFeedback();
  const { submit, isBusy, error } = useSubmit(async (user: number) => {
    await api.patch("/api/v1/users/{user_id}", {
      path: { user_id: user },
      body: { password: await hashPassword(password), isHashed: true },
    });
    setPassword("");
    say("Password changed");
  });
  return (
    <Panel title="Password">
      <form
        className="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          if (userId) submit(userId);
        }}
      >
        <label className="field">
          <span className="label">New password</span>
          <input
            className="input"
            type="password"
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </label>
        <ErrorNote error={error} />
        <div>
          <button className="btn" disabled={!password || !userId || isBusy}>
            Change password
          </button>
        </div>
      </form>
    </Panel>
  );
}

function NewToken({ userId }: { userId: number | undefined }): ReactNode {
  const client = useQueryClient();
  const [description, setDescription] = useState("");
  const [hours, setHours] = useState("720h");
  const [token, setToken] = useState("");
  const { submit, isBusy, error } = useSubmit(async (user: number) => {
    const answer = await api.post("/api/v1/tokens", { body: { userId: user, description, lifespan: hours } });
    setToken(answer.token);
    await client.invalidateQueries({ queryKey: ["tokens"] });
  });
  return (
    <Panel title="New access token">
      <form
        className="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          if (userId) submit(userId);
        }}
      >
        <label className="field">
          <span className="label">What it is for</span>
          <input className="input" value={description} onChange={(event) => setDescription(event.target.value)} />
        </label>
        <label className="field">
          <span className="label">Valid for</span>
          <select className="select" value={hours} onChange={(event) => setHours(event.target.value)}>
            <option value="24h">A day</option>
            <option value="168h">A week</option>
            <option value="720h">30 days</option>
            <option value="-1">As long as allowed</option>
          </select>
        </label>
        <ErrorNote error={error} />
        {token && (
          <div className="stack tight">
            <span>Copy it now; it is not shown again.</span>
            <code style={{ overflowWrap: "anywhere", padding: 8, background: "var(--sunken)", borderRadius: 6 }}>
              {token}
            </code>
          </div>
        )}
        <div>
          <button className="btn" disabled={!userId || isBusy}>
            Create token
          </button>
        </div>
      </form>
    </Panel>
  );
}

function Tokens(): ReactNode {
  const client = useQueryClient();
  const { ask } = useFeedback();
  const tokens = useQuery(tokensQuery);
  const users = useQuery(usersQuery).data ?? [];
  const revoke = (id: number): void =>
    ask({
      title: `Revoke token ${id}?`,
      text: "Programs that use it are refused from now on.",
      action: "Revoke",
      danger: true,
      done: "Token revoked",
      run: async () => {
        await api.patch("/api/v1/tokens/{token_id}", { path: { token_id: id }, body: { setRevoked: true } });
        await client.invalidateQueries({ queryKey: ["tokens"] });
      },
    });
  return (
    <Panel title="Access tokens" flush>
      <ErrorNote error={tokens.error} />
      {tokens.isPending ? (
        <Loading />
      ) : !tokens.data?.length ? (
        <Empty title="No access token">
          <p>A token lets a program act as you without your password.</p>
        </Empty>
      ) : (
        <div className="table-wrap">
          <table className="table" aria-label="Access tokens">
            <thead>
              <tr>
                <th className="num" style={{ width: 1 }}>
                  ID
                </th>
                <th>For</th>
                <th>User</th>
                <th>Created</th>
                <th>Expires</th>
                <th />
              </tr>
            </thead>
            <tbody>
              {tokens.data.map((token) => (
                <tr key={token.id}>
                  <td className="num">{token.id}</td>
                  <td>{token.description || "–"}</td>
                  <td>{users.find((user) => user.id === token.userId)?.username ?? token.userId}</td>
                  <td>
                    <Ago when={token.createdAt} />
                  </td>
                  <td>{formatTime(token.expiry)}</td>
                  <td style={{ width: 1 }}>
                    {token.revoked ? (
                      <span className="badge">Revoked</span>
                    ) : (
                      <button className="btn quiet danger" onClick={() => revoke(token.id)}>
                        Revoke
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
