import type { ReactNode } from "react";
import { TextField } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { useForm } from "../ui/useForm";

interface Props {
  title: string;
  action: string;
  describe?: boolean;
  /** What is there already, when it is renamed. */
  name?: string;
  description?: string;
  onClose: () => void;
  onSave: (value: { name: string; description: string }) => Promise<unknown>;
}

export function NameDialog({
  title,
  action,
  describe,
  name = "",
  description = "",
  onClose,
  onSave,
}: Props): ReactNode {
  const form = useForm({
    initial: { name, description },
    isReady: (values) => !!values.name.trim(),
    run: (values) => onSave({ ...values, name: values.name.trim() }),
    onDone: onClose,
  });
  return (
    <FormDialog title={title} action={action} form={form} onClose={onClose}>
      <TextField label="Name" autoFocus {...form.field("name")} />
      {describe && <TextField label="Description" {...form.field("description")} />}
    </FormDialog>
  );
}
