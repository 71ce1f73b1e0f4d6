/** Another model beside, in the shadow of, or in place of the one that answers; or another share for it. */
import type { ReactNode } from "react";
import { FormDialog } from "../../ui/FormDialog";
import { useForm } from "../../ui/useForm";
import { noSource, sourceBody, SourceFields, type Source, type SourceBody } from "./SourceFields";

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
  const bodyOf = (source: Source): SourceBody | null => (rollout.source ? sourceBody(source) : {});
  const form = useForm({
    initial: { source: noSource(model), percent: rollout.percent ?? 0 },
    isReady: ({ source }) => !!bodyOf(source),
    run: ({ source, percent }) => rollout.run(bodyOf(source) ?? {}, percent),
    onDone: onClose,
  });
  const { source, percent } = form.values;
  return (
    <FormDialog title={rollout.title} action={rollout.action} leave="Keep as it is" form={form} onClose={onClose}>
      <p className="muted">{rollout.text}</p>
      {rollout.source && <SourceFields source={source} onChange={form.field("source").onChange} />}
      {rollout.percent !== undefined && (
        <label className="field">
          <span className="label">Share of the requests: {percent} %</span>
          <input
            type="range"
            aria-label="Percent"
            min={0}
            max={100}
            value={percent}
            onChange={(event) => form.set({ percent: event.target.valueAsNumber })}
          />
        </label>
      )}
    </FormDialog>
  );
}
