/** A new deployment: its name, its model, and how many replicas it may have. */
import { useState, type ReactNode } from "react";
import { useNavigate } from "react-router";
import { post } from "../../api/http";
import type { Deployment } from "../../api/types";
import { Dialog } from "../../ui/Dialog";
import { ErrorNote } from "../../ui/parts";
import { noSource, sourceBody, SourceFields } from "./SourceFields";

interface Props {
  model?: string;
  version?: string;
  onClose: () => void;
}

export function CreateDialog({ model = "", version = "", onClose }: Props): ReactNode {
  const navigate = useNavigate();
  const [name, setName] = useState(labelOf(model));
  const [source, setSource] = useState(noSource(model, version));
  const [least, setLeast] = useState(1);
  const [most, setMost] = useState(1);
  const [slots, setSlots] = useState(0);
  const [open, setOpen] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [made, setMade] = useState<{ deployment: Deployment; apiKey: string } | null>(null);
  const body = sourceBody(source);
  const save = async (): Promise<void> => {
    try {
      const scaling = { minReplicas: least, maxReplicas: Math.max(most, least, 1) };
      setMade(
        await post("/api/v1/deployments", { name: name.trim(), ...body, scaling, serving: { slots }, public: open }),
      );
    } catch (problem) {
      setError(problem);
    }
  };
  const goOn = async (): Promise<void> => {
    onClose();
    await navigate(`/deployments/${made!.deployment.name}`);
  };
  if (made)
    return (
      <Dialog
        title={`${made.deployment.name} starts`}
        onClose={() => void goOn()}
        footer={
          <button className="btn primary" onClick={() => void goOn()}>
            Open it
          </button>
        }
      >
        <p className="muted">Callers reach it with this key, or with a user's token:</p>
        <pre className="secret">{made.apiKey}</pre>
        <p className="muted">Keep it now: it is not shown again.</p>
      </Dialog>
    );
  return (
    <Dialog
      title="New deployment"
      onClose={onClose}
      footer={
        <>
          <button className="btn" onClick={onClose}>
            Close
          </button>
          <button className="btn primary" disabled={!name.trim() || !body} onClick={() => void save()}>
            Deploy
          </button>
        </>
      }
    >
      <label className="field">
        <span className="label">Name, part of its address</span>
        <input className="input" autoFocus value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <SourceFields source={source} onChange={setSource} />
      <div className="grid three">
        <NumberField label="Replicas, at least" value={least} onChange={setLeast} />
        <NumberField label="At most" value={Math.max(most, least)} onChange={setMost} />
        <NumberField label="Slots each" value={slots} onChange={setSlots} />
      </div>
      <label className="check">
        <input type="checkbox" checked={open} onChange={(event) => setOpen(event.target.checked)} />
        Anybody may call it, without a key
      </label>
      <ErrorNote error={error} />
    </Dialog>
  );
}

interface NumberProps {
  label: string;
  value: number;
  onChange: (value: number) => void;
  step?: number;
  max?: number;
}

export function NumberField({ label, value, onChange, step = 1, max }: NumberProps): ReactNode {
  return (
    <label className="field">
      <span className="label">{label}</span>
      <input
        className="input"
        type="number"
        min={0}
        max={max}
        step={step}
        value={value}
        onChange={(event) => onChange(event.target.valueAsNumber || 0)}
      />
    </label>
  );
}

/** A model's name as a part of a host name. */
const labelOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "")
    .slice(0, 63);
