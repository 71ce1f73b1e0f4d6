/** What can be done to all chosen experiments at once. */
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { useNavigate } from "react-router";
import type { Experiment } from "../../api/types";
import { plural } from "../../text/format";
import { isEnded, isPaused } from "../../text/state";
import { useFeedback } from "../../ui/Feedback";
import { actOn, deleteExperiment, patchExperiment, VERBS, type Verb } from "../actions";
import { MoveDialog } from "../MoveDialog";
import { TagDialog } from "../TagDialog";

export function SelectionBar({
  experiments,
  onClear,
}: {
  experiments: readonly Experiment[];
  onClear: () => void;
}): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { ask } = useFeedback();
  const [dialog, setDialog] = useState<"move" | "tag" | null>(null);
  const refresh = (): void => void client.invalidateQueries({ queryKey: ["experiments"] });
  const count = plural(experiments.length, "experiment");

  const act = (verb: Verb): void => {
    const able = experiments.filter((experiment) => VERBS[verb].possible(experiment));
    const run = async (): Promise<void> => {
      await Promise.all(able.map((experiment) => actOn(experiment.id, verb)));
      refresh();
      onClear();
    };
    ask({
      title: `${VERBS[verb].word} ${plural(able.length, "experiment")}?`,
      text: VERBS[verb].meaning,
      action: VERBS[verb].word,
      danger: verb === "kill",
      run,
      done: `${VERBS[verb].past}: ${able.map((experiment) => experiment.id).join(", ")}`,
    });
  };
  const destroy = (): void => {
    const run = async (): Promise<void> => {
      await Promise.all(experiments.map((experiment) => deleteExperiment(experiment.id)));
      refresh();
      onClear();
    };
    ask({
      title: `Delete ${count}?`,
      text: "Their trials, metrics, logs and checkpoints are removed for good.",
      action: "Delete",
      danger: true,
      run,
      done: `${count} deleted`,
    });
  };
  const tag = async (labels: readonly string[]): Promise<void> => {
    await Promise.all(
      experiments.map((experiment) =>
        patchExperiment(experiment.id, { labels: [...new Set([...(experiment.labels ?? []), ...labels])] }),
      ),
    );
    refresh();
  };
  const any = (test: (experiment: Experiment) => boolean): boolean => experiments.some(test);
  return (
    <div className="selection-bar">
      <b>{count} selected</b>
      <button
        className="btn"
        onClick={() =>
          void navigate(`/compare?experiments=${experiments.map((experiment) => experiment.id).join(",")}`)
        }
      >
        Compare
      </button>
      <button className="btn" disabled={!any(VERBS.pause.possible)} onClick={() => act("pause")}>
        Pause
      </button>
      <button
        className="btn"
        disabled={!any((experiment) => isPaused(experiment.state))}
        onClick={() => act("activate")}
      >
        Activate
      </button>
      <button className="btn" onClick={() => setDialog("tag")}>
        Tag
      </button>
      <button className="btn" onClick={() => setDialog("move")}>
        Move
      </button>
      <button className="btn" disabled={!any(VERBS.archive.possible)} onClick={() => act("archive")}>
        Archive
      </button>
      {any((experiment) => experiment.archived) && (
        <button className="btn" onClick={() => act("unarchive")}>
          Unarchive
        </button>
      )}
      <button className="btn danger" disabled={!any(VERBS.kill.possible)} onClick={() => act("kill")}>
        Kill
      </button>
      <button
        className="btn danger"
        disabled={!experiments.every((experiment) => isEnded(experiment.state))}
        onClick={destroy}
      >
        Delete
      </button>
      <span className="grow" />
      <button className="btn quiet" onClick={onClear}>
        Clear
      </button>
      {dialog === "move" && (
        <MoveDialog
          ids={experiments.map((experiment) => experiment.id)}
          onClose={() => setDialog(null)}
          onDone={refresh}
        />
      )}
      {dialog === "tag" && (
        <TagDialog labels={[]} title={`Tag ${count}`} onClose={() => setDialog(null)} onSave={tag} />
      )}
    </div>
  );
}
