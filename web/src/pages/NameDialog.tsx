import { useState, type ReactNode } from "react";
import { FormDialog } from "../ui/FormDialog";

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

export function NameDialog(props: Props): ReactNode {
  const [name, setName] = useState(props.name ?? "");
  const [description, setDescription] = useState(props.description ?? "");
  return (
    <FormDialog
      title={props.title}
      action={props.action}
      isReady={!!name.trim()}
      run={() => props.onSave({ name: name.trim(), description })}
      onClose={props.onClose}
    >
      <label className="field">
        <span className="label">Name</span>
        <input className="input" autoFocus value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      {props.describe && (
        <label className="field">
          <span className="label">Description</span>
          <input className="input" value={description} onChange={(event) => setDescription(event.target.value)} />
        </label>
      )}
    </FormDialog>
  );
}
