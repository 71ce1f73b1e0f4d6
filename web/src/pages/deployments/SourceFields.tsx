/** Which model: a registered version, a checkpoint, or a folder or archive somewhere. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Request } from "../../api/client";
import { modelsQuery, modelVersionsQuery } from "../../api/queries";
import { Segment } from "../../ui/parts";

export type SourceKind = "model" | "checkpoint" | "uri";
export interface Source {
  kind: SourceKind;
  model: string;
  /** Empty: the newest. */
  version: string;
  checkpoint: string;
  uri: string;
}
/** How a request names it. */
export type SourceBody = Pick<
  Request<"post", "/api/v1/deployments/{deployment_name}/update">["body"],
  "model" | "checkpointUuid" | "modelUri"
>;
export const noSource = (model = "", version = ""): Source => ({
  kind: "model",
  model,
  version,
  checkpoint: "",
  uri: "",
});

/** The part of a request that names the model; null while nothing is chosen. */
export function sourceBody(source: Source): SourceBody | null {
  if (source.kind === "model")
    return source.model ? { model: source.version ? `${source.model}/${source.version}` : source.model } : null;
  if (source.kind === "checkpoint")
    return source.checkpoint.trim() ? { checkpointUuid: source.checkpoint.trim() } : null;
  return source.uri.trim() ? { modelUri: source.uri.trim() } : null;
}

const KINDS = [
  ["model", "Model"],
  ["checkpoint", "Checkpoint"],
  ["uri", "Folder or archive"],
] as const;

interface Props {
  source: Source;
  onChange: (source: Source) => void;
}

export function SourceFields({ source, onChange }: Props): ReactNode {
  return (
    <>
      <Segment
        label="What is served"
        value={source.kind}
        options={KINDS}
        onChange={(kind) => onChange({ ...source, kind })}
      />
      {source.kind === "model" && <ModelFields source={source} onChange={onChange} />}
      {source.kind === "checkpoint" && (
        <label className="field">
          <span className="label">Uuid of the checkpoint</span>
          <input
            className="input mono"
            value={source.checkpoint}
            onChange={(event) => onChange({ ...source, checkpoint: event.target.value })}
          />
        </label>
      )}
      {source.kind === "uri" && (
        <label className="field">
          <span className="label">Path or http(s) address, as the master reaches it</span>
          <input
            className="input mono"
            value={source.uri}
            onChange={(event) => onChange({ ...source, uri: event.target.value })}
          />
        </label>
      )}
    </>
  );
}

function ModelFields({ source, onChange }: Props): ReactNode {
  const models = useQuery(modelsQuery({ archived: false })).data ?? [];
  const versions = useQuery({ ...modelVersionsQuery(source.model), enabled: !!source.model }).data?.modelVersions ?? [];
  return (
    <div className="grid two">
      <label className="field">
        <span className="label">Model</span>
        <select
          className="select"
          value={source.model}
          onChange={(event) => onChange({ ...source, model: event.target.value, version: "" })}
        >
          <option value="">Choose …</option>
          {models.map((each) => (
            <option key={each.id}>{each.name}</option>
          ))}
        </select>
      </label>
      <label className="field">
        <span className="label">Version</span>
        <select
          className="select"
          value={source.version}
          disabled={!source.model}
          onChange={(event) => onChange({ ...source, version: event.target.value })}
        >
          <option value="">The newest</option>
          {versions.map((each) => (
            <option key={each.version} value={each.version}>
              {each.version}
              {each.name ? `, ${each.name}` : ""}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
