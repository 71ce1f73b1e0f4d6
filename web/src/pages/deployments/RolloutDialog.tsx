/** Another model beside, in the shadow of, or in place of the one that answers; or another share for it. */
import { useState, type ReactNode } from "react";
import { Dialog } from "../../ui/Dialog";
import { ErrorNote } from "../../ui/parts";
import { noSource, sourceBody, SourceFields } from "./SourceFields";

export interface Rollout {
  title: string;
  text: string;
  action: string;
  /** Whether a model is chosen here; otherwise only the share changes. */
  source: boolean;
  /** Percent to begin with; absent: no share to choose. */
  percent?: number;
  run: (body: Record<string, unknown>) => Promise<unknown>;
}

interface Props {
  rollout: Rollout;
  /** The model that answers now. */
  model: string;
  onClose: () => void;
}

export function RolloutDialog({ rollout, model, onClose }: Props): ReactNode {
  const [source, setSource] = useState(noSource(model));
  const [percent, setPercent] = useState(rollout.percent ?? 0);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const chosen = rollout.source ? sourceBody(source) : {};
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      await rollout.run({ ...chosen, ...(rollout.percent === undefined ? {} : { percent }) });
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={rollout.title}
      onClose={onClose}
      footer={
        <>
          <button className="btn" onClick={onClose}>
            Keep as it is
          </button>
          <button className="btn primary" disabled={!chosen || busy} onClick={() => void save()}>
            {rollout.action}
          </button>
        </>
      }
    >
      <p className="muted">{rollout.text}</p>
      {rollout.source && <SourceFields source={source} onChange={setSource} />}
      {rollout.percent !== undefined && (
        <label className="field">
          <span className="label">Share of the requests: {percent} %</span>
          <input
            type="range"
            aria-label="Percent"
            min={0}
            max={100}
            value={percent}
            onChange={(event) => setPercent(event.target.valueAsNumber)}
          />
        </label>
      )}
      <ErrorNote error={error} />
    </Dialog>
  );
}
