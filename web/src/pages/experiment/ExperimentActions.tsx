import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, useNavigate } from "react-router";
import type { Experiment } from "../../api/types";
import { isEnded, isPaused } from "../../text/state";
import { Editor } from "../../ui/Code";
import { FormDialog } from "../../ui/FormDialog";
import { useFeedback } from "../../ui/Feedback";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { useForm } from "../../ui/useForm";
import { actOn, continueExperiment, deleteExperiment, patchExperiment, VERBS, type Verb } from "../actions";
import { NameDialog } from "../NameDialog";
import { MoveDialog } from "../MoveDialog";
import { TagDialog } from "../TagDialog";

type Open = "move" | "tags" | "continue" | "rename" | null;

export function ExperimentActions({ experiment }: { experiment: Experiment }): ReactNode {
  const { id, state } = experiment;
  const client = useQueryClient();
  const navigate = useNavigate();
  const { ask } = useFeedback();
  const [open, setOpen] = useState<Open>(null);
  const refresh = (): void => {
    void client.invalidateQueries({ queryKey: ["experiment", id] });
    void client.invalidateQueries({ queryKey: ["experiments"] });
  };
  const act = (verb: Verb): void =>
    ask({
      title: `${VERBS[verb].word} experiment ${id}?`,
      text: VERBS[verb].meaning,
      action: VERBS[verb].word,
      danger: verb === "kill",
      run: () => actOn(id, verb).then(refresh),
      done: `${VERBS[verb].past}: experiment ${id}`,
    });
  const destroy = (): void =>
    ask({
      title: `Delete experiment ${id}?`,
      text: "Its trials, metrics, logs and checkpoints are removed for good.",
      action: "Delete",
      danger: true,
      done: `Experiment ${id} deleted`,
      run: async () => {
        await deleteExperiment(id);
        refresh();
        await navigate("/experiments");
      },
    });
  return (
    <>
      {VERBS.pause.possible(experiment) && (
        <button className="btn" onClick={() => act("pause")}>
          <Icon name="pause" />
          Pause
        </button>
      )}
      {isPaused(state) && (
        <button className="btn" onClick={() => act("activate")}>
          <Icon name="play" />
          Activate
        </button>
      )}
      {isEnded(state) && (
        <button className="btn" onClick={() => setOpen("continue")}>
          <Icon name="play" />
          Continue
        </button>
      )}
      <Link className="btn" to={`/experiments/new?fork=${id}`}>
        <Icon name="fork" />
        Fork
      </Link>
      <Menu className="btn icon" label={<Icon name="more" />} name="More actions">
        {VERBS.cancel.possible(experiment) && (
          <button className="menu-item" onClick={() => act("cancel")}>
            <Icon name="stop" />
            Stop
          </button>
        )}
        <button className="menu-item" onClick={() => setOpen("rename")}>
          Rename
        </button>
        <button className="menu-item" onClick={() => setOpen("tags")}>
          Tags
        </button>
        <button className="menu-item" onClick={() => setOpen("move")}>
          Move
        </button>
        {VERBS.archive.possible(experiment) && (
          <button className="menu-item" onClick={() => act("archive")}>
            Archive
          </button>
        )}
        {experiment.archived && (
          <button className="menu-item" onClick={() => act("unarchive")}>
            Unarchive
          </button>
        )}
        <div className="menu-sep" />
        {VERBS.kill.possible(experiment) && (
          <button className="menu-item danger" onClick={() => act("kill")}>
            Kill
          </button>
        )}
        <button className="menu-item danger" disabled={!isEnded(state)} onClick={destroy}>
          <Icon name="trash" />
          Delete
        </button>
      </Menu>
      {open === "move" && <MoveDialog ids={[id]} onClose={() => setOpen(null)} onDone={refresh} />}
      {open === "tags" && (
        <TagDialog
          title={`Tags of experiment ${id}`}
          labels={experiment.labels ?? []}
          onClose={() => setOpen(null)}
          onSave={(labels) => patchExperiment(id, { labels }).then(refresh)}
        />
      )}
      {open === "continue" && <ContinueDialog experiment={experiment} onClose={() => setOpen(null)} onDone={refresh} />}
      {open === "rename" && (
        <NameDialog
          describe
          title={`Rename experiment ${id}`}
          action="Save"
          name={experiment.name}
          description={experiment.description ?? ""}
          onClose={() => setOpen(null)}
          onSave={(change) => patchExperiment(id, change).then(refresh)}
        />
      )}
    </>
  );
}

interface DialogProps {
  experiment: Experiment;
  onClose: () => void;
  onDone: () => void;
}

function ContinueDialog({ experiment, onClose, onDone }: DialogProps): ReactNode {
  const { say } = useFeedback();
  const form = useForm({
    initial: { changes: "" },
    run: async ({ changes }) => {
      await continueExperiment(experiment.id, changes);
      say(`Experiment ${experiment.id} goes on`);
      onDone();
    },
    onDone: onClose,
  });
  return (
    <FormDialog title={`Continue experiment ${experiment.id}`} action="Continue" form={form} onClose={onClose}>
      <p className="muted">
        It goes on from its last checkpoint, under the same id. Write only what should differ, for example a longer{" "}
        <code>searcher.max_length</code>; leave it empty to try again as it was.
      </p>
      <Editor label="Changes to the configuration" {...form.field("changes")} rows={8} />
    </FormDialog>
  );
}
