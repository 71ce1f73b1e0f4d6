import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState, type ReactNode } from "react";
import { Link } from "react-router";
import { useLive } from "../../api/events";
import { api } from "../../api/client";
import { checkpointArchive, checkpointsQuery } from "../../api/queries";
import type { Checkpoint } from "../../api/types";
import { formatBytes, formatNumber } from "../../text/format";
import { DataTable, type Column } from "../../ui/DataTable";
import { useFeedback } from "../../ui/Feedback";
import { Icon } from "../../ui/Icon";
import { saveFile } from "../../ui/saveFile";
import { Ago, Empty, ErrorNote, NoRows, Panel, StateBadge } from "../../ui/parts";
import { RegisterDialog } from "../models/RegisterDialog";

const rowId = (checkpoint: Checkpoint): string => checkpoint.uuid;

export const checkpointBytes = (checkpoint: Checkpoint): number =>
  Object.entries(checkpoint.resources).reduce((sum, [path, size]) => sum + (path.endsWith("/") ? 0 : Number(size)), 0);

export function CheckpointsTab({
  of,
  id,
  metric,
}: {
  of: "experiments" | "trials";
  id: number;
  metric: string;
}): ReactNode {
  const topic = of === "trials" ? `trial/${id}` : `experiment/${id}`;
  useLive([topic], [[of === "trials" ? "trial" : "experiment", id, "checkpoints"]], 1000);
  const client = useQueryClient();
  const { ask, complain } = useFeedback();
  const [registering, setRegistering] = useState<string | null>(null);
  const query = useQuery(checkpointsQuery(of, id));
  const rows = (query.data?.checkpoints ?? []).filter(
    (checkpoint) => !checkpoint.state.endsWith("_DELETED") || checkpoint.state.endsWith("PARTIALLY_DELETED"),
  );
  const drop = useCallback(
    (checkpoint: Checkpoint): void =>
      ask({
        title: "Delete this checkpoint?",
        text: `${checkpoint.uuid}: its files are removed for good.`,
        action: "Delete",
        danger: true,
        done: "Checkpoint deleted",
        run: async () => {
          await api.delete("/api/v1/checkpoints", { body: { checkpointUuids: [checkpoint.uuid] } });
          await client.invalidateQueries({ queryKey: checkpointsQuery(of, id).queryKey });
        },
      }),
    [ask, client, of, id],
  );
  const columns = useMemo(
    (): Column<Checkpoint>[] => [
      {
        id: "uuid",
        title: "Checkpoint",
        cell: (row) => (
          <span className="row">
            <Link className="mono" title={row.uuid} to={`/checkpoints/${row.uuid}`}>
              {row.uuid.slice(0, 8)}
            </Link>
            {"evaluation.json" in row.resources && <span className="badge">Evaluated</span>}
          </span>
        ),
      },
      {
        id: "trial",
        title: "Trial",
        numeric: true,
        cell: (row) =>
          row.training.trialId ? <Link to={`/trials/${row.training.trialId}`}>{row.training.trialId}</Link> : "–",
      },
      { id: "steps", title: "Step", numeric: true, cell: (row) => formatNumber(row.metadata["steps_completed"]) },
      {
        id: "metric",
        title: metric || "Metric",
        numeric: true,
        cell: (row) => formatNumber(row.training.searcherMetric ?? undefined),
      },
      { id: "state", title: "State", cell: (row) => <StateBadge state={row.state} /> },
      {
        id: "files",
        title: "Files",
        numeric: true,
        cell: (row) => (
          <span title={Object.keys(row.resources).join("\n")}>
            {Object.keys(row.resources).filter((path) => !path.endsWith("/")).length}
          </span>
        ),
      },
      { id: "size", title: "Size", numeric: true, cell: (row) => formatBytes(checkpointBytes(row)) },
      { id: "time", title: "Saved", numeric: true, cell: (row) => <Ago when={row.reportTime} /> },
      {
        id: "actions",
        title: <span className="sr">Actions</span>,
        width: 1,
        cell: (row) => (
          <span className="row">
            <button
              className="btn quiet icon"
              aria-label={`Register ${row.uuid}`}
              title="Register as a version of a model"
              disabled={!row.state.endsWith("_COMPLETED")}
              onClick={() => setRegistering(row.uuid)}
            >
              <Icon name="model" />
            </button>
            <button
              className="btn quiet icon"
              aria-label={`Download ${row.uuid}`}
              title="Download"
              onClick={() => void saveFile(checkpointArchive(row.uuid), `${row.uuid}.tar.gz`).catch(complain)}
            >
              <Icon name="download" />
            </button>
            <button
              className="btn quiet icon"
              aria-label={`Delete ${row.uuid}`}
              title="Delete"
              onClick={() => drop(row)}
            >
              <Icon name="trash" />
            </button>
          </span>
        ),
      },
    ],
    [metric, drop, complain],
  );
  return (
    <Panel title="Checkpoints, best first" flush>
      <ErrorNote error={query.error} />
      <DataTable
        label="Checkpoints"
        rows={rows}
        columns={columns}
        rowId={rowId}
        height="calc(100vh - 260px)"
        empty={
          <NoRows of={query}>
            <Empty title="No checkpoint yet">
              <p>Checkpoints appear when a trial saves one, at the latest when it ends or is paused.</p>
            </Empty>
          </NoRows>
        }
      />
      {registering && <RegisterDialog uuid={registering} onClose={() => setRegistering(null)} />}
    </Panel>
  );
}
