import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { api, type Request } from "../api/client";
import { meQuery, usersQuery } from "../api/queries";
import { hashPassword } from "../api/session";
import type { User } from "../api/types";
import { useFeedback } from "../ui/Feedback";
import { CheckField, TextField } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { useForm } from "../ui/useForm";
import { Icon } from "../ui/Icon";
import { Ago, ErrorNote, Loading, PageHead, Panel } from "../ui/parts";

type Change = Request<"patch", "/api/v1/users/{user_id}">["body"];
const patchUser = (user: User, body: Change): Promise<unknown> =>
  api.patch("/api/v1/users/{user_id}", { path: { user_id: user.id }, body });

export default function UsersPage(): ReactNode {
  const client = useQueryClient();
  const me = useQuery(meQuery).data;
  const users = useQuery(usersQuery);
  const { complain, ask } = useFeedback();
  const [dialog, setDialog] = useState<User | "new" | null>(null);
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: ["users"] });
  const change = (user: User, body: Change): Promise<void> => patchUser(user, body).then(refresh).catch(complain);
  const deactivate = (user: User): void =>
    ask({
      title: `Deactivate ${user.username}?`,
      text: "They can no longer sign in. Their experiments stay.",
      action: "Deactivate",
      danger: true,
      run: () => patchUser(user, { active: false }).then(refresh),
    });
  return (
    <>
      <PageHead
        title="Users"
        actions={
          me?.admin && (
            <button className="btn primary" onClick={() => setDialog("new")}>
              <Icon name="plus" />
              New user
            </button>
          )
        }
      />
      <ErrorNote error={users.error} />
      <Panel flush>
        {users.isPending ? (
          <Loading />
        ) : (
          <div className="table-wrap">
            <table className="table" aria-label="Users">
              <thead>
                <tr>
                  <th>User</th>
                  <th>Name</th>
                  <th>Role</th>
                  <th>State</th>
                  <th className="num">Last seen</th>
                  <th>
                    <span className="sr">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {(users.data ?? []).map((user) => (
                  <tr key={user.id}>
                    <td>{user.username}</td>
                    <td>{user.displayName || "–"}</td>
                    <td>{user.admin ? <span className="badge note">Admin</span> : "User"}</td>
                    <td>
                      <span className={`badge ${user.active ? "good" : ""}`}>
                        {user.active ? "Active" : "Inactive"}
                      </span>
                    </td>
                    <td className="num">{user.lastAuthAt ? <Ago when={user.lastAuthAt} /> : "–"}</td>
                    <td style={{ width: 1 }}>
                      {me?.admin && (
                        <span className="row">
                          <button className="btn quiet" onClick={() => setDialog(user)}>
                            Set password
                          </button>
                          <button
                            className="btn quiet"
                            disabled={user.id === me.id}
                            onClick={() => void change(user, { admin: !user.admin })}
                          >
                            {user.admin ? "Remove admin" : "Make admin"}
                          </button>
                          <button
                            className="btn quiet danger"
                            disabled={user.id === me.id}
                            onClick={() => (user.active ? deactivate(user) : void change(user, { active: true }))}
                          >
                            {user.active ? "Deactivate" : "Activate"}
                          </button>
                        </span>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
      {dialog && (
        <UserDialog user={dialog === "new" ? null : dialog} onClose={() => setDialog(null)} onDone={refresh} />
      )}
    </>
  );
}

function UserDialog({
  user,
  onClose,
  onDone,
}: {
  user: User | null;
  onClose: () => void;
  onDone: () => Promise<void>;
}): ReactNode {
  const form = useForm({
    initial: { username: user?.username ?? "", password: "", admin: false },
    isReady: ({ username }) => !!username.trim(),
    run: async ({ username, password, admin }) => {
      const secret = { password: await hashPassword(password), isHashed: true };
      if (user) await patchUser(user, secret);
      else await api.post("/api/v1/users", { body: { user: { username, admin, active: true }, ...secret } });
      await onDone();
    },
    onDone: onClose,
  });
  return (
    <FormDialog
      title={user ? `New password for ${user.username}` : "New user"}
      action={user ? "Set password" : "Create"}
      form={form}
      onClose={onClose}
    >
      {!user && <TextField label="User name" autoFocus {...form.field("username")} />}
      <TextField label="Password" type="password" autoComplete="new-password" {...form.field("password")} />
      {!user && <CheckField {...form.field("admin")}>May manage users and the cluster</CheckField>}
    </FormDialog>
  );
}
