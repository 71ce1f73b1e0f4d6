import { useState, type ReactNode } from "react";
import { Dialog } from "../ui/Dialog";
import { ErrorNote } from "../ui/parts";

interface Props {
  title: string;
  action: string;
  describe?: boolean;
  onClose: () => void;
  onSave: (value: { name: string; description: string }) => Promise<unknown>;
}

export function NameDialog({ title, action, describe, onClose, onSave }: Props): ReactNode {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [error, setError] = useState<unknown>(null);
  const save = async (): Promise<void> => {
    try {
      await onSave({ name: name.trim(), description });
      onClose();
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <button className="btn" onClick={onClose}>
            Close
          </button>
          <button className="btn primary" disabled={!name.trim()} onClick={() => void save()}>
            {action}
          </button>
        </>
      }
    >
      <label className="field">
        <span className="label">Name</span>
        <input
          className="input"
          autoFocus
          value={name}
          onChange={(event) => setName(event.target.value)}
          onKeyDown={(event) => event.key === "Enter" && name.trim() && void save()}
        />
      </label>
      {describe && (
        <label className="field">
          <span className="label">Description</span>
          <input className="input" value={description} onChange={(event) => setDescription(event.target.value)} />
        </label>
      )}
      <ErrorNote error={error} />
    </Dialog>
  );
}
