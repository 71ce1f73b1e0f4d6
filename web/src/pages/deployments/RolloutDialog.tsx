/** Another model beside, in the shadow of, or in place of the one that answers; or another share for it. */
import { useState, type ReactNode } from "react";
import { FormDialog } from "../../ui/FormDialog";
import { noSource, sourceBody, SourceFields, type SourceBody } from "./SourceFields";

export interface Rollout {
  title: string;
  text: string;
  action: string;
  /** Whether a model is chosen here; otherwise only the share changes. */
  source: boolean;
  /** Percent to begin with; absent: no share to choose. */
  percent?: number;
  run: (model: SourceBody, percent: number) => Promise<unknown>;
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
  const chosen = rollout.source ? sourceBody(source) : {};
  return (
    <FormDialog
      title={rollout.title}
      action={rollout.action}
      leave="Keep as it is"
      isReady={!!chosen}
      run={() => rollout.run(chosen ?? {}, percent)}
      onClose={onClose}
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
    </FormDialog>
  );
}
