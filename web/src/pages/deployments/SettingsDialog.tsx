/** How a deployment grows and shrinks, when a canary is taken back, and who may call. */
import type { ReactNode } from "react";
import { api } from "../../api/client";
import type { Deployment } from "../../api/types";
import { CheckField, NumberField, TextField } from "../../ui/fields";
import { FormDialog } from "../../ui/FormDialog";
import { useForm } from "../../ui/useForm";
import { Segment } from "../../ui/parts";

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
  const { scaling: scales, guard: guards, sticky, public: isOpen } = deployment;
  const form = useForm({
    initial: { scaling: scales, guard: guards, sticky, isOpen },
    run: async (values) => {
      await api.patch("/api/v1/deployments/{deployment_name}", {
        path: { deployment_name: deployment.name },
        body: {
          scaling: { ...values.scaling },
          guard: { ...values.guard },
          sticky: values.sticky.trim(),
          public: values.isOpen,
        },
      });
      await onSaved();
    },
    onDone: onClose,
  });
  const { scaling, guard } = form.values;
  const setScaling = form.field("scaling").onChange;
  const setGuard = form.field("guard").onChange;
  return (
    <FormDialog
      title={`Settings of ${deployment.name}`}
      action="Save"
      leave="Keep as it is"
      form={form}
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
      <CheckField value={guard.enabled} onChange={(enabled) => setGuard({ ...guard, enabled })}>
        Roll back by itself when the canary is worse
      </CheckField>
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
      <TextField
        label="Same revision for the same caller, by header:NAME or cookie:NAME"
        className="mono"
        placeholder="nobody is told apart"
        {...form.field("sticky")}
      />
      <CheckField {...form.field("isOpen")}>Anybody may call it, without a key</CheckField>
    </FormDialog>
  );
}
