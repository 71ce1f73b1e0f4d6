/** A new deployment: its name, its model, and how many replicas it may have. */
import { useState, type ReactNode } from "react";
import { useNavigate } from "react-router";
import { api, type Answer } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { CheckField, NumberField, TextField } from "../../ui/fields";
import { FormDialog } from "../../ui/FormDialog";
import { useForm } from "../../ui/useForm";
import { noSource, sourceBody, SourceFields } from "./SourceFields";

interface Props {
  model?: string;
  version?: string;
  onClose: () => void;
}

export function CreateDialog({ model = "", version = "", onClose }: Props): ReactNode {
  const navigate = useNavigate();
  const [made, setMade] = useState<Answer<"post", "/api/v1/deployments"> | null>(null);
  const form = useForm({
    initial: { name: labelOf(model), source: noSource(model, version), least: 1, most: 1, slots: 0, isOpen: false },
    isReady: ({ name, source }) => !!name.trim() && !!sourceBody(source),
    run: async ({ name, source, least, most, slots, isOpen }) => {
      const scaling = { minReplicas: least, maxReplicas: Math.max(most, least, 1) };
      const body = { name: name.trim(), ...sourceBody(source), scaling, serving: { slots }, public: isOpen };
      // The key is shown next, so this stays open.
      setMade(await api.post("/api/v1/deployments", { body }));
    },
  });
  const { source, least, most } = form.values;
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
    <FormDialog title="New deployment" action="Deploy" form={form} onClose={onClose}>
      <TextField label="Name, part of its address" autoFocus {...form.field("name")} />
      <SourceFields source={source} onChange={form.field("source").onChange} />
      <div className="grid three">
        <NumberField label="Replicas, at least" {...form.field("least")} />
        <NumberField label="At most" {...form.field("most")} value={Math.max(most, least)} />
        <NumberField label="Slots each" {...form.field("slots")} />
      </div>
      <CheckField {...form.field("isOpen")}>Anybody may call it, without a key</CheckField>
    </FormDialog>
  );
}

/** A model's name as a part of a host name. */
const labelOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "")
    .slice(0, 63);
