/** One checkpoint: where it comes from, what is in it, how good it is, and what can be made of it. */
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, useParams } from "react-router";
import { open } from "../../api/client";
import { checkpointArchive, checkpointFile, checkpointQuery } from "../../api/queries";
import type { Checkpoint } from "../../api/types";
import { formatBytes, formatNumber } from "../../text/format";
import { saveFile } from "../../ui/saveFile";
import { useFeedback } from "../../ui/Feedback";
import { Icon } from "../../ui/Icon";
import { Ago, ErrorNote, Facts, Loading, PageHead, Panel, StateBadge } from "../../ui/parts";
import { checkpointBytes } from "../experiment/CheckpointsTab";
import { Lineage } from "../models/Lineage";
import { RegisterDialog } from "../models/RegisterDialog";
import { EVALUATION_FILE, readEvaluation } from "./evaluation";
import { EvaluationView } from "./EvaluationView";

export default function CheckpointPage(): ReactNode {
  const uuid = useParams()["uuid"] ?? "";
  const { complain } = useFeedback();
  const [registering, setRegistering] = useState(false);
  const query = useQuery(checkpointQuery(uuid));
  if (query.isPending) return <Loading />;
  if (!query.data) return <ErrorNote error={query.error} />;
  const checkpoint = query.data;
  const isWhole = checkpoint.state.endsWith("_COMPLETED");
  const { trialId, experimentId } = checkpoint.training;
  return (
    <>
      <PageHead
        crumbs={[
          ...(experimentId ? [{ label: `Experiment ${experimentId}`, to: `/experiments/${experimentId}` }] : []),
          ...(trialId ? [{ label: `Trial ${trialId}`, to: `/trials/${trialId}/checkpoints` }] : []),
        ]}
        title={
          <>
            Checkpoint <span className="mono">{uuid.slice(0, 8)}</span> <StateBadge state={checkpoint.state} />
          </>
        }
        actions={
          isWhole && (
            <>
              <button className="btn primary" onClick={() => setRegistering(true)}>
                <Icon name="model" />
                Register
              </button>
              <button
                className="btn"
                onClick={() => void saveFile(checkpointArchive(uuid), `${uuid}.tar.gz`).catch(complain)}
              >
                <Icon name="download" />
                Download
              </button>
            </>
          )
        }
      />
      <About checkpoint={checkpoint} />
      {EVALUATION_FILE in checkpoint.resources && <Judgement uuid={uuid} />}
      <Panel title="Where it comes from and where it is used">
        <Lineage kind="checkpoint" id={uuid} />
      </Panel>
      <Panel title="Files" flush>
        <Files checkpoint={checkpoint} />
      </Panel>
      {registering && <RegisterDialog uuid={uuid} onClose={() => setRegistering(false)} />}
    </>
  );
}

function About({ checkpoint }: { checkpoint: Checkpoint }): ReactNode {
  return (
    <Panel>
      <Facts
        items={[
          ["Step", formatNumber(checkpoint.metadata["steps_completed"])],
          ["Metric of the search", formatNumber(checkpoint.training.searcherMetric ?? undefined)],
          ["Size", formatBytes(checkpointBytes(checkpoint))],
          ["Saved", <Ago key="s" when={checkpoint.reportTime} />],
          [
            "Uuid",
            <span key="u" className="mono">
              {checkpoint.uuid}
            </span>,
          ],
        ]}
      />
    </Panel>
  );
}

function Judgement({ uuid }: { uuid: string }): ReactNode {
  const query = useQuery({
    queryKey: ["checkpoint", uuid, "evaluation"],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const response = await open(checkpointFile(uuid, EVALUATION_FILE), signal);
      return readEvaluation(await response.json());
    },
  });
  if (query.isPending) return <Loading />;
  if (!query.data) return <ErrorNote error={query.error} />;
  return <EvaluationView uuid={uuid} evaluation={query.data} />;
}

function Files({ checkpoint }: { checkpoint: Checkpoint }): ReactNode {
  const { complain } = useFeedback();
  const files = Object.entries(checkpoint.resources)
    .filter(([path]) => !path.endsWith("/"))
    .sort(([a], [b]) => a.localeCompare(b));
  return (
    <div className="table-wrap" style={{ maxHeight: 420 }}>
      <table className="table" aria-label="Files">
        <thead>
          <tr>
            <th>File</th>
            <th className="num">Size</th>
            <th>
              <span className="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {files.map(([path, size]) => (
            <tr key={path}>
              <td className="mono">{path}</td>
              <td className="num">{formatBytes(size)}</td>
              <td style={{ width: 1 }}>
                <button
                  className="btn quiet icon"
                  aria-label={`Download ${path}`}
                  title="Download"
                  onClick={() =>
                    void saveFile(checkpointFile(checkpoint.uuid, path), path.split("/").at(-1)!).catch(complain)
                  }
                >
                  <Icon name="download" />
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {!files.length && (
        <p className="muted" style={{ padding: "var(--s3)" }}>
          No file is left. <Link to="/experiments">Go to the experiments</Link>
        </p>
      )}
    </div>
  );
}
