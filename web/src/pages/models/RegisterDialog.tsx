/** Makes a checkpoint the next version of a model, an old or a new one. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useNavigate } from "react-router";
import { api } from "../../api/client";
import { modelsQuery } from "../../api/queries";
import { TextField } from "../../ui/fields";
import { FormDialog } from "../../ui/FormDialog";
import { useForm } from "../../ui/useForm";

export function RegisterDialog({ uuid, onClose }: { uuid: string; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const models = useQuery(modelsQuery({ archived: false })).data ?? [];
  const form = useForm({
    initial: { model: "", comment: "" },
    isReady: ({ model }) => !!model.trim(),
    run: async ({ model, comment }) => {
      const name = model.trim();
      if (!models.some((known) => known.name === name)) await api.post("/api/v1/models", { body: { name } });
      await api.post("/api/v1/models/{model_name}/versions", {
        path: { model_name: name },
        body: { checkpointUuid: uuid, comment },
      });
      await client.invalidateQueries({ queryKey: ["models"] });
      await navigate(`/models/${encodeURIComponent(name)}`);
    },
    onDone: onClose,
  });
  return (
    <FormDialog title="Register this checkpoint" action="Register" form={form} onClose={onClose}>
      <TextField label="Model, an existing one or a new name" list="known-models" autoFocus {...form.field("model")} />
      <datalist id="known-models">
        {models.map((model) => (
          <option key={model.id} value={model.name} />
        ))}
      </datalist>
      <TextField label="Comment" {...form.field("comment")} />
    </FormDialog>
  );
}
