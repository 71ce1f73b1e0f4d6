import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link } from "react-router";
import { api } from "../api/client";
import { workspacesQuery } from "../api/queries";
import { plural } from "../text/format";
import { Icon } from "../ui/Icon";
import { Empty, ErrorNote, NoRows, PageHead, Panel } from "../ui/parts";
import { NameDialog } from "./NameDialog";

export default function WorkspacesPage(): ReactNode {
  const client = useQueryClient();
  const workspaces = useQuery(workspacesQuery);
  const [adding, setAdding] = useState(false);
  const add = async ({ name }: { name: string }): Promise<void> => {
    await api.post("/api/v1/workspaces", { body: { name } });
    await client.invalidateQueries({ queryKey: ["workspaces"] });
  };
  return (
    <>
      <PageHead
        title="Workspaces"
        actions={
          <button className="btn primary" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            New workspace
          </button>
        }
      />
      <ErrorNote error={workspaces.error} />
      {!workspaces.data?.length ? (
        <NoRows of={workspaces}>
          <Panel>
            <Empty title="No workspace yet">
              <p>A workspace holds the projects of a team.</p>
            </Empty>
          </Panel>
        </NoRows>
      ) : (
        <div className="grid cards">
          {workspaces.data.map((workspace) => (
            <Panel
              key={workspace.id}
              title={<Link to={`/workspaces/${workspace.id}`}>{workspace.name}</Link>}
              actions={workspace.archived && <span className="badge">Archived</span>}
            >
              <div className="muted">
                {plural(workspace.numProjects, "project")}, {plural(workspace.numExperiments, "experiment")}
              </div>
              <div className="faint">by {workspace.username}</div>
            </Panel>
          ))}
        </div>
      )}
      {adding && <NameDialog title="New workspace" action="Create" onClose={() => setAdding(false)} onSave={add} />}
    </>
  );
}
