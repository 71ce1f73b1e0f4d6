/** Makes a checkpoint the next version of a model, an old or a new one. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { useNavigate } from "react-router";
import { api } from "../../api/client";
import { modelsQuery } from "../../api/queries";
import { FormDialog } from "../../ui/FormDialog";

export function RegisterDialog({ uuid, onClose }: { uuid: string; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const models = useQuery(modelsQuery({ archived: false })).data ?? [];
  const [name, setName] = useState("");
  const [comment, setComment] = useState("");
  const wanted = name.trim();
  const save = async (): Promise<void> => {
    if (!models.some((model) => model.name === wanted)) await api.post("/api/v1/models", { body: { name: wanted } });
    await api.post("/api/v1/models/{model_name}/versions", {
      path: { model_name: wanted },
      body: { checkpointUuid: uuid, comment },
    });
    await client.invalidateQueries({ queryKey: ["models"] });
    await navigate(`/models/${encodeURIComponent(wanted)}`);
  };
  return (
    <FormDialog title="Register this checkpoint" action="Register" isReady={!!wanted} run={save} onClose={onClose}>
      <label className="field">
        <span className="label">Model, an existing one or a new name</span>
        <input
          className="input"
          list="known-models"
          autoFocus
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <datalist id="known-models">
          {models.map((model) => (
            <option key={model.id} value={model.name} />
          ))}
        </datalist>
      </label>
      <label className="field">
        <span className="label">Comment</span>
        <input className="input" value={comment} onChange={(event) => setComment(event.target.value)} />
      </label>
    </FormDialog>
  );
}
