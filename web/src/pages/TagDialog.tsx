import type { ReactNode } from "react";
import { TextField } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { useForm } from "../ui/useForm";

interface Props {
  title: string;
  labels: readonly string[];
  onClose: () => void;
  onSave: (labels: string[]) => Promise<unknown>;
}

export function TagDialog({ title, labels, onClose, onSave }: Props): ReactNode {
  const form = useForm({
    initial: { tags: labels.join(", ") },
    run: ({ tags }) => onSave(tagsIn(tags)),
    onDone: onClose,
  });
  return (
    <FormDialog title={title} action="Save tags" form={form} onClose={onClose}>
      <TextField label="Tags, separated by commas" autoFocus {...form.field("tags")} />
    </FormDialog>
  );
}

function tagsIn(text: string): string[] {
  const parts = text.split(",").map((label) => label.trim());
  return [...new Set(parts.filter(Boolean))];
}
