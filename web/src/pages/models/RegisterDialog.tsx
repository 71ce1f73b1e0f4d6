/** Makes a checkpoint the next version of a model, an old or a new one. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { useNavigate } from "react-router";
import { post } from "../../api/http";
import { modelPath, modelsQuery } from "../../api/queries";
import { Dialog } from "../../ui/Dialog";
import { ErrorNote } from "../../ui/parts";

export function RegisterDialog({ uuid, onClose }: { uuid: string; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const models = useQuery(modelsQuery({ archived: false })).data ?? [];
  const [name, setName] = useState("");
  const [comment, setComment] = useState("");
  const [error, setError] = useState<unknown>(null);
  const wanted = name.trim();
  const save = async (): Promise<void> => {
    try {
      if (!models.some((model) => model.name === wanted)) await post("/api/v1/models", { name: wanted });
      await post(`${modelPath(wanted)}/versions`, { modelName: wanted, checkpointUuid: uuid, comment });
      await client.invalidateQueries({ queryKey: ["models"] });
      await navigate(`/models/${encodeURIComponent(wanted)}`);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Dialog
      title="Register this checkpoint"
      onClose={onClose}
      footer={
        <>
          <button className="btn" onClick={onClose}>
            Close
          </button>
          <button className="btn primary" disabled={!wanted} onClick={() => void save()}>
            Register
          </button>
        </>
      }
    >
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
      <ErrorNote error={error} />
    </Dialog>
  );
}
