import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useParams } from "react-router";
import { projectQuery } from "../api/queries";
import { Markdown } from "../text/markdown";
import { Icon } from "../ui/Icon";
import { ErrorNote, PageHead, Panel } from "../ui/parts";
import { ExperimentList } from "./list/ExperimentList";

export default function ProjectPage(): ReactNode {
  const id = Number(useParams()["id"]);
  const { data: project, error } = useQuery(projectQuery(id));
  const crumbs = [
    { label: "Workspaces", to: "/workspaces" },
    ...(project ? [{ label: project.workspaceName ?? "Workspace", to: `/workspaces/${project.workspaceId}` }] : []),
  ];
  return (
    <>
      <PageHead
        title={project?.name ?? "Project"}
        crumbs={crumbs}
        actions={
          <Link className="btn primary" to="/experiments/new">
            <Icon name="plus" />
            New experiment
          </Link>
        }
      >
        {project?.description && <span className="muted">{project.description}</span>}
      </PageHead>
      <ErrorNote error={error} />
      <ExperimentList projectId={id} />
      {(project?.notes ?? []).map((note, i) => (
        <Panel key={i} title={note.name}>
          <Markdown text={note.contents} />
        </Panel>
      ))}
    </>
  );
}
