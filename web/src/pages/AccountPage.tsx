import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { api } from "../api/client";
import { meQuery, tokensQuery, usersQuery } from "../api/queries";
import { hashPassword } from "../api/session";
import { formatTime } from "../text/format";
import { useFeedback } from "../ui/Feedback";
import { SelectField, TextField } from "../ui/fields";
import { useForm } from "../ui/useForm";
import { Ago, Empty, ErrorNote, NoRows, PageHead, Panel } from "../ui/parts";

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
  const { say } = useFeedback();
  const form = useForm({
    initial: { password: "" },
    isReady: ({ password }) => !!password && !!userId,
    run: async ({ password }) => {
      await api.patch("/api/v1/users/{user_id}", {
        path: { user_id: userId! },
        body: { password: await hashPassword(password), isHashed: true },
      });
      form.set({ password: "" });
      say("Password changed");
    },
  });
  return (
    <Panel title="Password">
      <form
        className="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          form.submit();
        }}
      >
        <TextField label="New password" type="password" autoComplete="new-password" {...form.field("password")} />
        <ErrorNote error={form.error} />
        <div>
          <button className="btn" disabled={!form.isReady || form.isBusy}>
            Change password
          </button>
        </div>
      </form>
    </Panel>
  );
}

const LIFESPANS = [
  ["24h", "A day"],
  ["168h", "A week"],
  ["720h", "30 days"],
  ["-1", "As long as allowed"],
] as const;

function NewToken({ userId }: { userId: number | undefined }): ReactNode {
  const client = useQueryClient();
  const [token, setToken] = useState("");
  const form = useForm({
    initial: { description: "", lifespan: "720h" },
    isReady: () => !!userId,
    run: async (values) => {
      const answer = await api.post("/api/v1/tokens", { body: { userId: userId!, ...values } });
      setToken(answer.token);
      await client.invalidateQueries({ queryKey: ["tokens"] });
    },
  });
  return (
    <Panel title="New access token">
      <form
        className="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          form.submit();
        }}
      >
        <TextField label="What it is for" {...form.field("description")} />
        <SelectField label="Valid for" options={LIFESPANS} {...form.field("lifespan")} />
        <ErrorNote error={form.error} />
        {token && (
          <div className="stack tight">
            <span>Copy it now; it is not shown again.</span>
            <code style={{ overflowWrap: "anywhere", padding: 8, background: "var(--sunken)", borderRadius: 6 }}>
              {token}
            </code>
          </div>
        )}
        <div>
          <button className="btn" disabled={!form.isReady || form.isBusy}>
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
      {!tokens.data?.length ? (
        <NoRows of={tokens}>
          <Empty title="No access token">
            <p>A token lets a program act as you without your password.</p>
          </Empty>
        </NoRows>
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
                <th>
                  <span className="sr">Actions</span>
                </th>
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
