import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { projectsQuery, workspacesQuery } from "../api/queries";
import { useFeedback } from "../ui/Feedback";
import { SelectField } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { useForm } from "../ui/useForm";
import { moveExperiment } from "./actions";

interface Props {
  ids: readonly number[];
  onClose: () => void;
  onDone: () => void;
}

export function MoveDialog({ ids, onClose, onDone }: Props): ReactNode {
  const { say } = useFeedback();
  const form = useForm({
    // 0: the first there is.
    initial: { workspace: 0, project: 0 },
    run: async () => {
      await Promise.all(ids.map((id) => moveExperiment(id, target!.id)));
      say(`Moved to ${target!.name}`);
      onDone();
    },
    onDone: onClose,
  });
  const workspaces = useQuery(workspacesQuery).data ?? [];
  const workspace = form.values.workspace || workspaces[0]?.id || 0;
  const projects = useQuery({ ...projectsQuery(workspace), enabled: workspace > 0 }).data ?? [];
  const target = projects.find((candidate) => candidate.id === form.values.project) ?? projects[0];
  return (
    <FormDialog
      title={ids.length === 1 ? `Move experiment ${ids[0]}` : `Move ${ids.length} experiments`}
      action="Move"
      form={{ ...form, isReady: !!target }}
      onClose={onClose}
    >
      <SelectField
        label="Workspace"
        options={workspaces.map((each) => [each.id, each.name] as const)}
        {...form.field("workspace")}
        value={workspace}
      />
      <SelectField
        label="Project"
        options={projects.map((each) => [each.id, each.name] as const)}
        {...form.field("project")}
        value={target?.id ?? 0}
      />
      {workspace > 0 && !projects.length && (
        <p className="muted">This workspace has no project yet. Add one on its page first.</p>
      )}
    </FormDialog>
  );
}
