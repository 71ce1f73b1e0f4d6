import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { Experiment } from "../../api/types";
import { Markdown } from "../../text/markdown";
import { useFeedback } from "../../ui/Feedback";
import { Empty, Panel } from "../../ui/parts";
import { patchExperiment } from "../actions";

export function NotesTab({ experiment }: { experiment: Experiment }): ReactNode {
  const client = useQueryClient();
  const { complain } = useFeedback();
  const [draft, setDraft] = useState<string | null>(null);
  const save = async (): Promise<void> => {
    try {
      await patchExperiment(experiment.id, { notes: draft ?? "" });
      await client.invalidateQueries({ queryKey: ["experiment", experiment.id] });
      setDraft(null);
    } catch (error) {
      complain(error);
    }
  };
  if (draft !== null) {
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
  return (
    <Panel
      title="Notes"
      actions={
        <button className="btn" onClick={() => setDraft(experiment.notes ?? "")}>
          Edit
        </button>
      }
    >
      {experiment.notes ? (
        <Markdown text={experiment.notes} />
      ) : (
        <Empty title="No notes yet">
          <p>Write down why this experiment was run and what it showed. Markdown works.</p>
          <button className="btn" onClick={() => setDraft("")}>
            Write a note
          </button>
        </Empty>
      )}
    </Panel>
  );
}
