import { useState, type ReactNode } from "react";
import { Dialog } from "../ui/Dialog";
import { ErrorNote } from "../ui/parts";

interface Props {
  title: string;
  labels: readonly string[];
  onClose: () => void;
  onSave: (labels: string[]) => Promise<unknown>;
}

export function TagDialog({ title, labels, onClose, onSave }: Props): ReactNode {
  const [text, setText] = useState(labels.join(", "));
  const [error, setError] = useState<unknown>(null);
  const save = async (): Promise<void> => {
    try {
      await onSave([
        ...new Set(
          text
            .split(",")
            .map((label) => label.trim())
            .filter(Boolean),
        ),
      ]);
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
          <button className="btn primary" onClick={() => void save()}>
            Save tags
          </button>
        </>
      }
    >
      <label className="field">
        <span className="label">Tags, separated by commas</span>
        <input
          className="input"
          autoFocus
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.key === "Enter" && void save()}
        />
      </label>
      <ErrorNote error={error} />
    </Dialog>
  );
}
