/** How a deployment grows and shrinks, when a canary is taken back, and who may call. */
import { useState, type ReactNode } from "react";
import { api } from "../../api/client";
import type { Deployment } from "../../api/types";
import { FormDialog } from "../../ui/FormDialog";
import { Segment } from "../../ui/parts";
import { NumberField } from "./CreateDialog";

const METRICS = [
  ["concurrency", "Requests at once"],
  ["rate", "Requests per second"],
] as const;

interface Props {
  deployment: Deployment;
  onClose: () => void;
  onSaved: () => Promise<unknown>;
}

export function SettingsDialog({ deployment, onClose, onSaved }: Props): ReactNode {
  const [scaling, setScaling] = useState(deployment.scaling);
  const [guard, setGuard] = useState(deployment.guard);
  const [sticky, setSticky] = useState(deployment.sticky);
  const [open, setOpen] = useState(deployment.public);
  const save = async (): Promise<void> => {
    await api.patch("/api/v1/deployments/{deployment_name}", {
      path: { deployment_name: deployment.name },
      body: { scaling: { ...scaling }, guard: { ...guard }, sticky: sticky.trim(), public: open },
    });
    await onSaved();
  };
  return (
    <FormDialog
      title={`Settings of ${deployment.name}`}
      action="Save"
      leave="Keep as it is"
      run={save}
      onClose={onClose}
    >
      <h3>Scaling</h3>
      <Segment
        label="Scale by"
        value={scaling.metric === "rate" ? "rate" : "concurrency"}
        options={METRICS}
        onChange={(metric) => setScaling({ ...scaling, metric })}
      />
      <div className="grid three">
        <NumberField
          label="Replicas, at least"
          value={scaling.minReplicas}
          onChange={(minReplicas) => setScaling({ ...scaling, minReplicas })}
        />
        <NumberField
          label="At most"
          value={scaling.maxReplicas}
          onChange={(maxReplicas) => setScaling({ ...scaling, maxReplicas })}
        />
        <NumberField
          label="Target per replica"
          step={0.5}
          value={scaling.target}
          onChange={(target) => setScaling({ ...scaling, target })}
        />
      </div>
      <NumberField
        label="With none at least: down to zero after seconds without a request"
        value={scaling.idleS}
        onChange={(idleS) => setScaling({ ...scaling, idleS })}
      />
      <h3>Guard of a canary</h3>
      <label className="check">
        <input
          type="checkbox"
          checked={guard.enabled}
          onChange={(event) => setGuard({ ...guard, enabled: event.target.checked })}
        />
        Roll back by itself when the canary is worse
      </label>
      <div className="grid three">
        <NumberField
          label="After requests"
          value={guard.minRequests}
          onChange={(minRequests) => setGuard({ ...guard, minRequests })}
        />
        <NumberField
          label="More errors, share"
          step={0.01}
          value={guard.errorRateMargin}
          onChange={(errorRateMargin) => setGuard({ ...guard, errorRateMargin })}
        />
        <NumberField
          label="Slower by factor"
          step={0.1}
          value={guard.latencyFactor}
          onChange={(latencyFactor) => setGuard({ ...guard, latencyFactor })}
        />
      </div>
      <h3>Callers</h3>
      <label className="field">
        <span className="label">Same revision for the same caller, by header:NAME or cookie:NAME</span>
        <input
          className="input mono"
          placeholder="nobody is told apart"
          value={sticky}
          onChange={(event) => setSticky(event.target.value)}
        />
      </label>
      <label className="check">
        <input type="checkbox" checked={open} onChange={(event) => setOpen(event.target.checked)} />
        Anybody may call it, without a key
      </label>
    </FormDialog>
  );
}
