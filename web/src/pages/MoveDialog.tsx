import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { projectsQuery, workspacesQuery } from "../api/queries";
import { useFeedback } from "../ui/Feedback";
import { FormDialog } from "../ui/FormDialog";
import { moveExperiment } from "./actions";

export function MoveDialog({
  ids,
  onClose,
  onDone,
}: {
  ids: readonly number[];
  onClose: () => void;
  onDone: () => void;
}): ReactNode {
  const workspaces = useQuery(workspacesQuery).data ?? [];
  const [workspace, setWorkspace] = useState(0);
  const chosen = workspace || workspaces[0]?.id || 0;
  const projects = useQuery({ ...projectsQuery(chosen), enabled: chosen > 0 }).data ?? [];
  const [project, setProject] = useState(0);
  const { say } = useFeedback();
  const target = projects.find((candidate) => candidate.id === project) ?? projects[0];
  const move = async (): Promise<void> => {
    if (!target) return;
    await Promise.all(ids.map((id) => moveExperiment(id, target.id)));
    say(`Moved to ${target.name}`);
    onDone();
  };
  return (
    <FormDialog
      title={ids.length === 1 ? `Move experiment ${ids[0]}` : `Move ${ids.length} experiments`}
      action="Move"
      isReady={!!target}
      run={move}
      onClose={onClose}
    >
      <label className="field">
        <span className="label">Workspace</span>
        <select className="select" value={chosen} onChange={(event) => setWorkspace(Number(event.target.value))}>
          {workspaces.map((item) => (
            <option key={item.id} value={item.id}>
              {item.name}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span className="label">Project</span>
        <select className="select" value={target?.id ?? 0} onChange={(event) => setProject(Number(event.target.value))}>
          {projects.map((item) => (
            <option key={item.id} value={item.id}>
              {item.name}
            </option>
          ))}
        </select>
      </label>
      {chosen > 0 && !projects.length && (
        <p className="muted">This workspace has no project yet. Add one on its page first.</p>
      )}
    </FormDialog>
  );
}
