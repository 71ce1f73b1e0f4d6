import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Experiment } from "../../api/types";
import { patchExperiment } from "../actions";
import { EditableNotes } from "../../ui/EditableNotes";

export default function NotesTab({ experiment }: { experiment: Experiment }): ReactNode {
  const client = useQueryClient();
  const save = async (notes: string): Promise<void> => {
    await patchExperiment(experiment.id, { notes });
    await client.invalidateQueries({ queryKey: ["experiment", experiment.id] });
  };
  return (
    <EditableNotes
      notes={experiment.notes ?? ""}
      hint="Write down why this experiment was run and what it showed. Markdown works."
      onSave={save}
    />
  );
}
