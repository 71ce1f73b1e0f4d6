import { useState, type ReactNode } from "react";
import { FormDialog } from "../ui/FormDialog";

interface Props {
  title: string;
  labels: readonly string[];
  onClose: () => void;
  onSave: (labels: string[]) => Promise<unknown>;
}

export function TagDialog({ title, labels, onClose, onSave }: Props): ReactNode {
  const [text, setText] = useState(labels.join(", "));
  return (
    <FormDialog title={title} action="Save tags" run={() => onSave(tagsIn(text))} onClose={onClose}>
      <label className="field">
        <span className="label">Tags, separated by commas</span>
        <input className="input" autoFocus value={text} onChange={(event) => setText(event.target.value)} />
      </label>
    </FormDialog>
  );
}

function tagsIn(text: string): string[] {
  const parts = text.split(",").map((label) => label.trim());
  return [...new Set(parts.filter(Boolean))];
}
