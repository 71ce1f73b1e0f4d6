import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, useParams } from "react-router";
import { api } from "../api/client";
import { projectsQuery, workspacesQuery } from "../api/queries";
import { plural } from "../text/format";
import { Icon } from "../ui/Icon";
import { Ago, Empty, ErrorNote, NoRows, PageHead, Panel } from "../ui/parts";
import { NameDialog } from "./NameDialog";

export default function WorkspacePage(): ReactNode {
  const id = Number(useParams()["id"]);
  const client = useQueryClient();
  const workspace = useQuery(workspacesQuery).data?.find((item) => item.id === id);
  const projects = useQuery(projectsQuery(id));
  const [adding, setAdding] = useState(false);
  const add = async ({ name, description }: { name: string; description: string }): Promise<void> => {
    await api.post("/api/v1/workspaces/{workspace_id}/projects", {
      path: { workspace_id: id },
      body: { name, description },
    });
    await client.invalidateQueries({ queryKey: ["projects", id] });
  };
  return (
    <>
      <PageHead
        title={workspace?.name ?? "Workspace"}
        crumbs={[{ label: "Workspaces", to: "/workspaces" }]}
        actions={
          <button className="btn primary" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            New project
          </button>
        }
      />
      <ErrorNote error={projects.error} />
      {!projects.data?.length ? (
        <NoRows of={projects}>
          <Panel>
            <Empty title="No project yet">
              <p>Projects group the experiments of one question. Name one in a configuration, or add it here.</p>
              <button className="btn" onClick={() => setAdding(true)}>
                New project
              </button>
            </Empty>
          </Panel>
        </NoRows>
      ) : (
        <div className="grid cards">
          {projects.data.map((project) => (
            <Panel
              key={project.id}
              title={<Link to={`/projects/${project.id}`}>{project.name}</Link>}
              actions={
                project.numActiveExperiments > 0 && (
                  <span className="badge accent">
                    <span className="dot pulse" />
                    {project.numActiveExperiments} active
                  </span>
                )
              }
            >
              {project.description && <p>{project.description}</p>}
              <div className="muted">
                {plural(project.numExperiments, "experiment")}
                {project.lastExperimentStartedAt && (
                  <>
                    , last <Ago when={project.lastExperimentStartedAt} />
                  </>
                )}
              </div>
            </Panel>
          ))}
        </div>
      )}
      {adding && (
        <NameDialog describe title="New project" action="Create" onClose={() => setAdding(false)} onSave={add} />
      )}
    </>
  );
}
