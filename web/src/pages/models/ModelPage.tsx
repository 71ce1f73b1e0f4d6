/** One registered model: its versions, what each is made of, and where it is used. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { api, type Request } from "../../api/client";
import { modelVersionsQuery } from "../../api/queries";
import type { Model, ModelVersion } from "../../api/types";
import { formatBytes, formatNumber } from "../../text/format";
import { useFeedback } from "../../ui/Feedback";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { Ago, Empty, ErrorNote, Facts, Loading, PageHead, Panel } from "../../ui/parts";
import { checkpointBytes } from "../experiment/CheckpointsTab";
import { EditableNotes } from "../../ui/EditableNotes";
import { Lineage } from "./Lineage";

type Stage = NonNullable<Request<"patch", "/api/v1/models/{model_name}/versions/{model_version_num}">["body"]["stage"]>;
const STAGES = ["NONE", "STAGING", "PRODUCTION", "RETIRED"] as const;
const WORDS: Record<string, string> = {
  NONE: "No stage",
  STAGING: "Staging",
  PRODUCTION: "Production",
  RETIRED: "Retired",
};

export default function ModelPage(): ReactNode {
  const name = useParams()["name"] ?? "";
  const client = useQueryClient();
  const { data, error, isPending } = useQuery(modelVersionsQuery(name));
  const [open, setOpen] = useState<number | null>(null);
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: ["models"] });
  if (isPending) return <Loading />;
  if (!data) return <ErrorNote error={error} />;
  const { model, modelVersions: versions } = data;
  const shown = versions.find((version) => version.version === open) ?? versions[0];
  return (
    <>
      <PageHead
        title={
          <>
            {model.name}
            {model.archived && <span className="badge">Archived</span>}
          </>
        }
        crumbs={[{ label: "Models", to: "/models" }]}
        actions={<ModelActions model={model} refresh={refresh} />}
      >
        {model.description && <span className="muted">{model.description}</span>}
      </PageHead>
      <Panel title="Versions" flush>
        {versions.length ? (
          <Versions name={name} versions={versions} shown={shown?.version ?? 0} onShow={setOpen} refresh={refresh} />
        ) : (
          <Empty title="No version yet">
            <p>Register a checkpoint of an experiment as the first version.</p>
            <code>resolute model register-version {model.name} CHECKPOINT</code>
          </Empty>
        )}
      </Panel>
      {shown && (
        <Panel title={`Where version ${shown.version} comes from and where it is used`}>
          <Lineage kind="model_version" id={`${model.name}/${shown.version}`} />
        </Panel>
      )}
      <EditableNotes
        notes={model.notes ?? ""}
        onSave={async (notes) => {
          await api.patch("/api/v1/models/{model_name}", { path: { model_name: name }, body: { notes } });
          await refresh();
        }}
      />
      <Panel title="About">
        <Facts
          items={[
            ["Registered by", model.username],
            ["Created", <Ago key="created" when={model.creationTime} />],
            ["Changed", <Ago key="changed" when={model.lastUpdatedTime} />],
            ["Labels", (model.labels ?? []).join(", ") || "none"],
            ["Metadata", Object.keys(model.metadata).length ? JSON.stringify(model.metadata) : "none"],
          ]}
        />
      </Panel>
    </>
  );
}

function ModelActions({ model, refresh }: { model: Model; refresh: () => Promise<void> }): ReactNode {
  const { ask, complain } = useFeedback();
  const navigate = useNavigate();
  const path = { model_name: model.name };
  const archive = (): Promise<void> =>
    api
      .post(`/api/v1/models/{model_name}/${model.archived ? "unarchive" : "archive"}`, { path })
      .then(refresh)
      .catch(complain);
  return (
    <Menu name="Actions" label={<Icon name="more" />} className="btn icon">
      <button className="menu-item" onClick={() => void archive()}>
        <Icon name="folder" />
        {model.archived ? "Take out of the archive" : "Archive"}
      </button>
      <button
        className="menu-item danger"
        onClick={() =>
          ask({
            title: `Delete ${model.name}?`,
            text: "The model and all its versions are removed from the registry. The checkpoints stay.",
            action: "Delete",
            danger: true,
            done: "Model deleted",
            run: async () => {
              await api.delete("/api/v1/models/{model_name}", { path });
              await navigate("/models");
              await refresh();
            },
          })
        }
      >
        <Icon name="trash" />
        Delete
      </button>
    </Menu>
  );
}

interface VersionsProps {
  name: string;
  versions: readonly ModelVersion[];
  shown: number;
  onShow: (version: number) => void;
  refresh: () => Promise<void>;
}

function Versions({ name, versions, shown, onShow, refresh }: VersionsProps): ReactNode {
  const { ask, complain, say } = useFeedback();
  const pathOf = (version: number): { model_name: string; model_version_num: number } => ({
    model_name: name,
    model_version_num: version,
  });
  const move = (version: number, stage: Stage): Promise<void> =>
    api
      .patch("/api/v1/models/{model_name}/versions/{model_version_num}", { path: pathOf(version), body: { stage } })
      .then(refresh)
      .then(() => say(`Version ${version} is now: ${WORDS[stage]}`))
      .catch(complain);
  const drop = (version: ModelVersion): void =>
    ask({
      title: `Delete version ${version.version}?`,
      text: "It is removed from the registry. Its checkpoint stays.",
      action: "Delete",
      danger: true,
      done: "Version deleted",
      run: () =>
        api
          .delete("/api/v1/models/{model_name}/versions/{model_version_num}", { path: pathOf(version.version) })
          .then(refresh),
    });
  return (
    <div className="table-wrap">
      <table className="table" aria-label="Versions">
        <thead>
          <tr>
            <th className="num">Version</th>
            <th>Name</th>
            <th>Stage</th>
            <th>Checkpoint</th>
            <th className="num">Trial</th>
            <th className="num">Metric</th>
            <th className="num">Size</th>
            <th className="num">Registered</th>
            <th>
              <span className="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {versions.map((version) => (
            <tr
              key={version.id}
              className={version.version === shown ? "selected" : ""}
              onClick={() => onShow(version.version)}
            >
              <td className="num">{version.version}</td>
              <td>{version.name || version.comment || <span className="faint">–</span>}</td>
              <td>
                <select
                  className="select"
                  aria-label={`Stage of version ${version.version}`}
                  value={version.stage ?? "NONE"}
                  onChange={(event) => void move(version.version, event.target.value as Stage)}
                >
                  {STAGES.map((stage) => (
                    <option key={stage} value={stage}>
                      {WORDS[stage]}
                    </option>
                  ))}
                </select>
              </td>
              <td className="mono" title={version.checkpoint.uuid}>
                <Link to={`/checkpoints/${version.checkpoint.uuid}`}>{version.checkpoint.uuid.slice(0, 8)}</Link>
              </td>
              <td className="num">
                {version.checkpoint.training.trialId ? (
                  <Link to={`/trials/${version.checkpoint.training.trialId}`}>
                    {version.checkpoint.training.trialId}
                  </Link>
                ) : (
                  "–"
                )}
              </td>
              <td className="num">{formatNumber(version.checkpoint.training.searcherMetric ?? undefined)}</td>
              <td className="num">{formatBytes(checkpointBytes(version.checkpoint))}</td>
              <td className="num">
                <Ago when={version.creationTime} />
              </td>
              <td style={{ width: 1 }}>
                <span className="row">
                  <Link
                    className="btn quiet icon"
                    aria-label={`Deploy version ${version.version}`}
                    title="Deploy"
                    to={`/deployments?model=${encodeURIComponent(name)}&version=${version.version}`}
                    onClick={(event) => event.stopPropagation()}
                  >
                    <Icon name="deploy" />
                  </Link>
                  <button
                    className="btn quiet icon"
                    aria-label={`Delete version ${version.version}`}
                    title="Delete"
                    onClick={(event) => {
                      event.stopPropagation();
                      drop(version);
                    }}
                  >
                    <Icon name="trash" />
                  </button>
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
