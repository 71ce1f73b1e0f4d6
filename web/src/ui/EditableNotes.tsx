/** Notes in markdown that can be edited where they stand. */
import { useState, type ReactNode } from "react";
import { Markdown } from "../text/markdown";
import { useFeedback } from "./Feedback";
import { Empty, Panel } from "./parts";

interface Props {
  notes: string;
  hint?: string;
  onSave: (notes: string) => Promise<unknown>;
}

export function EditableNotes({ notes, hint, onSave }: Props): ReactNode {
  const { complain } = useFeedback();
  const [draft, setDraft] = useState<string | null>(null);
  const save = (): Promise<void> =>
    onSave(draft ?? "")
      .then(() => setDraft(null))
      .catch(complain);
  if (draft === null) {
    const edit = (
      <button className="btn" onClick={() => setDraft(notes)}>
        {notes ? "Edit" : "Write a note"}
      </button>
    );
    return (
      <Panel title="Notes" actions={notes && edit}>
        {notes ? (
          <Markdown text={notes} />
        ) : (
          <Empty title="No notes yet">
            {hint && <p>{hint}</p>}
            {edit}
          </Empty>
        )}
      </Panel>
    );
  }
  return (
    <Panel
      title="Notes"
      actions={
        <>
          <button className="btn" onClick={() => setDraft(null)}>
            Discard
          </button>
          <button className="btn primary" onClick={() => void save()}>
            Save
          </button>
        </>
      }
    >
      <div className="grid two">
        <textarea
          className="textarea mono"
          aria-label="Notes in markdown"
          autoFocus
          rows={20}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
        />
        <Markdown text={draft} />
      </div>
    </Panel>
  );
}
