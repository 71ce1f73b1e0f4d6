/** A new deployment: its name, its model, and how many replicas it may have. */
import { useState, type ReactNode } from "react";
import { useNavigate } from "react-router";
import { api, type Answer } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { FormDialog } from "../../ui/FormDialog";
import { noSource, sourceBody, SourceFields } from "./SourceFields";

interface Props {
  model?: string;
  version?: string;
  onClose: () => void;
}

/** The key is shown next. */
const KEEP_OPEN = (): void => undefined;

export function CreateDialog({ model = "", version = "", onClose }: Props): ReactNode {
  const navigate = useNavigate();
  const [name, setName] = useState(labelOf(model));
  const [source, setSource] = useState(noSource(model, version));
  const [least, setLeast] = useState(1);
  const [most, setMost] = useState(1);
  const [slots, setSlots] = useState(0);
  const [open, setOpen] = useState(false);
  const [made, setMade] = useState<Answer<"post", "/api/v1/deployments"> | null>(null);
  const body = sourceBody(source);
  const save = async (): Promise<void> => {
    const scaling = { minReplicas: least, maxReplicas: Math.max(most, least, 1) };
    setMade(
      await api.post("/api/v1/deployments", {
        body: { name: name.trim(), ...body, scaling, serving: { slots }, public: open },
      }),
    );
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
    <FormDialog
      title="New deployment"
      action="Deploy"
      isReady={!!name.trim() && !!body}
      run={save}
      onClose={onClose}
      onDone={KEEP_OPEN}
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
    </FormDialog>
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
