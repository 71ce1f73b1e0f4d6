/** A new experiment: from an example, from YAML, or as a fork. The server checks the text while it is written. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { api } from "../../api/client";
import { experimentQuery, trialQuery, workspacesQuery, projectsQuery } from "../../api/queries";
import type { Experiment } from "../../api/types";
import { formatBytes, plural } from "../../text/format";
import { toYaml } from "../../text/yaml";
import { Editor } from "../../ui/Code";
import { useFeedback } from "../../ui/Feedback";
import { Icon } from "../../ui/Icon";
import { useSubmit } from "../../ui/useSubmit";
import { ErrorNote, PageHead, Panel } from "../../ui/parts";
import { examples, type Example } from "./examples";
import { parentCode } from "./parentCode";
import { readPicked, textFile, wireFiles, type Picked } from "./upload";
import { useValidation } from "./useValidation";

export default function CreatePage(): ReactNode {
  const [params] = useSearchParams();
  const fork = Number(params.get("fork")) || 0;
  const parent = useQuery({ ...experimentQuery(fork), enabled: fork > 0 });
  const trialId = Number(params.get("trial")) || 0;
  const trial = useQuery({ ...trialQuery(trialId), enabled: trialId > 0 });
  const known = useMemo(() => examples(), []);
  const [typed, setText] = useState<string | null>(null);
  const [files, setFiles] = useState<readonly Picked[] | null>(null);
  const [project, setProject] = useState(0);
  const [unreadable, setUnreadable] = useState<unknown>(null);
  const navigate = useNavigate();
  const { say } = useFeedback();

  const forked = useMemo(
    () => (parent.data && (!trialId || trial.data) ? forkedConfig(parent.data, trial.data?.hparams) : ""),
    [parent.data, trialId, trial.data],
  );
  const text = typed ?? forked;

  const body = {
    config: text,
    parentId: fork || undefined,
    projectId: project || undefined,
    ...(files ? { modelDefinition: wireFiles(files) } : {}),
  };
  const check = useValidation(body, text);
  const choose = (example: Example): void => {
    setText(example.config);
    setFiles(Object.entries(example.files).map(([path, content]) => textFile(path, content)));
  };
  const { submit, isBusy, error } = useSubmit(async (activate: boolean) => {
    const code = fork && !files ? { modelDefinition: await parentCode(fork) } : {};
    const answer = await api.post("/api/v1/experiments", { body: { ...body, ...code, activate } });
    say(`Experiment ${answer.experiment.id} created`);
    await navigate(`/experiments/${answer.experiment.id}`);
  });
  return (
    <>
      <PageHead
        title={fork ? `Fork experiment ${fork}` : "New experiment"}
        crumbs={[{ label: "Experiments", to: "/experiments" }]}
        actions={
          <>
            <button className="btn" disabled={isBusy || !text.trim()} onClick={() => submit(false)}>
              Create paused
            </button>
            <button
              className="btn primary"
              disabled={isBusy || !text.trim() || check.state === "bad"}
              onClick={() => submit(true)}
            >
              {fork ? "Start the fork" : "Start experiment"}
            </button>
          </>
        }
      />
      <ErrorNote error={unreadable ?? error ?? parent.error} />
      <div className="grid" style={{ gridTemplateColumns: "minmax(0, 1fr)" }}>
        {!fork && known.length > 0 && (
          <Panel title="Start from an example">
            <div className="row wrap">
              {known.map((example) => (
                <button key={example.name} className="btn" onClick={() => choose(example)}>
                  {example.name}
                </button>
              ))}
            </div>
          </Panel>
        )}
        <Panel title="Configuration" actions={<ProjectChoice value={project} onChange={setProject} />}>
          <div className="stack tight">
            <Editor label="Configuration in YAML" value={text} onChange={setText} badLine={check.line} rows={26} />
            <Verdict check={check} isEmpty={!text.trim()} />
          </div>
        </Panel>
        <Code files={files} fork={fork} onPick={setFiles} onError={setUnreadable} />
      </div>
    </>
  );
}

function forkedConfig(parent: Experiment, hparams: unknown): string {
  if (!hparams) return parent.originalConfig || toYaml(parent.config);
  // A trial's values, run alone: the search becomes a single trial with those constants.
  const config = structuredClone(parent.config) as Record<string, unknown>;
  const searcher = config["searcher"] as Record<string, unknown>;
  const kept = ["metric", "smaller_is_better", "max_length"].filter(
    (key) => searcher[key] !== undefined && searcher[key] !== null,
  );
  config["hyperparameters"] = hparams;
  config["searcher"] = { name: "single", ...Object.fromEntries(kept.map((key) => [key, searcher[key]])) };
  return toYaml(config);
}

function Verdict({ check, isEmpty }: { check: ReturnType<typeof useValidation>; isEmpty: boolean }): ReactNode {
  if (isEmpty)
    return (
      <p className="muted">
        Choose an example above, or paste the text of a configuration. Determined's YAML works as it is.
      </p>
    );
  if (check.state === "bad") return <ErrorNote error={check.message} />;
  if (check.state === "good")
    return (
      <p className="row" style={{ color: "var(--good)" }}>
        <Icon name="check" />
        This configuration is accepted{check.message ? `; ${check.message}` : "."}
      </p>
    );
  return <p className="muted">Checking…</p>;
}

function ProjectChoice({ value, onChange }: { value: number; onChange: (id: number) => void }): ReactNode {
  const workspaces = useQuery(workspacesQuery).data ?? [];
  const [workspace, setWorkspace] = useState(0);
  const chosen = workspace || workspaces[0]?.id || 0;
  const projects = useQuery({ ...projectsQuery(chosen), enabled: chosen > 0 }).data ?? [];
  return (
    <>
      <select
        className="select"
        aria-label="Workspace"
        value={chosen}
        onChange={(event) => {
          setWorkspace(Number(event.target.value));
          onChange(0);
        }}
      >
        {workspaces.map((item) => (
          <option key={item.id} value={item.id}>
            {item.name}
          </option>
        ))}
      </select>
      <select
        className="select"
        aria-label="Project"
        value={value}
        onChange={(event) => onChange(Number(event.target.value))}
      >
        <option value={0}>As the configuration says</option>
        {projects.map((item) => (
          <option key={item.id} value={item.id}>
            {item.name}
          </option>
        ))}
      </select>
    </>
  );
}

interface CodeProps {
  files: readonly Picked[] | null;
  fork: number;
  onPick: (files: readonly Picked[] | null) => void;
  onError: (error: unknown) => void;
}

function Code({ files, fork, onPick, onError }: CodeProps): ReactNode {
  const bytes = (files ?? []).reduce((sum, file) => sum + file.bytes.length, 0);
  const pick = async (list: FileList | null): Promise<void> => {
    if (!list?.length) return;
    try {
      onPick(await readPicked(list));
    } catch (error) {
      onError(error);
    }
  };
  return (
    <Panel
      title="Code"
      actions={
        files && (
          <button className="btn quiet" onClick={() => onPick(null)}>
            {fork ? `Use the code of experiment ${fork}` : "Remove"}
          </button>
        )
      }
    >
      <div className="row wrap">
        <label className="btn">
          <Icon name="folder" />
          Choose a folder
          <input
            className="sr"
            type="file"
            multiple
            {...{ webkitdirectory: "" }}
            onChange={(event) => void pick(event.target.files)}
          />
        </label>
        <span className="muted">
          {files
            ? `${plural(files.length, "file")}, ${formatBytes(bytes)}: ${files
                .slice(0, 6)
                .map((file) => file.path)
                .join(", ")}${files.length > 6 ? ", …" : ""}`
            : fork
              ? `The code of experiment ${fork} is used as it is.`
              : "No code yet. Everything in the folder is uploaded and kept with the experiment."}
        </span>
      </div>
    </Panel>
  );
}
