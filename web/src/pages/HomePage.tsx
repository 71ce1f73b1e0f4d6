/** What runs now, what ran lately, how full the cluster is. */
import { useQueries, useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { useLive } from "../api/events";
import { agentsQuery, experimentsQuery, jobsQuery, poolsQuery, type ExperimentState } from "../api/queries";
import type { Experiment, Job } from "../api/types";
import { formatNumber, plural } from "../text/format";
import { Icon } from "../ui/Icon";
import { Ago, Bar, Empty, ErrorNote, NoRows, PageHead, Panel, StateBadge } from "../ui/parts";
import { FirstExperiment } from "./FirstExperiment";

const ACTIVE: ExperimentState[] = [
  "STATE_ACTIVE",
  "STATE_STOPPING_COMPLETED",
  "STATE_STOPPING_CANCELED",
  "STATE_STOPPING_KILLED",
  "STATE_STOPPING_ERROR",
];
/** The server keeps running and waiting ones under one state; up to so many are told apart here. */
const MOST_COUNTED = 200;
const SHOWN = 8;

export function HomePage(): ReactNode {
  useLive(["experiments", "queue"], [["experiments"], ["cluster"], ["queue"]], 500);
  const running = useQuery(
    experimentsQuery({ states: ACTIVE, sortBy: "SORT_BY_START_TIME", descending: true, limit: MOST_COUNTED }),
  );
  const recent = useQuery(
    experimentsQuery({ sortBy: "SORT_BY_START_TIME", descending: true, limit: 12, archived: false }),
  );
  const runningRows = (running.data?.experiments ?? []).filter((row) => row.state !== "STATE_QUEUED");
  const isCounted = (running.data?.pagination.total ?? 0) <= MOST_COUNTED;
  const nothing = recent.data?.pagination.total === 0;
  return (
    <>
      <PageHead
        title="Home"
        actions={
          <Link className="btn primary" to="/experiments/new">
            <Icon name="plus" />
            New experiment
          </Link>
        }
      />
      <ErrorNote error={recent.error ?? running.error} />
      <Figures running={running.data && `${runningRows.length}${isCounted ? "" : "+"}`} />
      {nothing ? (
        <Panel>
          <FirstExperiment />
        </Panel>
      ) : (
        <div className="grid two">
          <Panel title="Running now" flush>
            <ExperimentRows
              rows={runningRows.slice(0, SHOWN)}
              empty={
                <NoRows of={running}>
                  <Empty title="Nothing is running">
                    <p>Start one from an example or fork an earlier one.</p>
                    <Link className="btn" to="/experiments/new">
                      New experiment
                    </Link>
                  </Empty>
                </NoRows>
              }
            />
          </Panel>
          <Panel title="Recent experiments" actions={<Link to="/experiments">All experiments</Link>} flush>
            <ExperimentRows rows={recent.data?.experiments ?? []} empty={<NoRows of={recent}>{null}</NoRows>} />
          </Panel>
        </div>
      )}
    </>
  );
}

function Figures({ running }: { running: string | undefined }): ReactNode {
  const agents = useQuery({ ...agentsQuery, refetchInterval: 10_000 }).data;
  const pools = useQuery(poolsQuery).data;
  const queued = useQueries({ queries: (pools ?? []).map((pool) => jobsQuery(pool.name)), combine: queuedOf });
  const slots = (agents ?? []).flatMap((agent) => Object.values(agent.slots ?? {}));
  const used = slots.filter((slot) => slot.container).length;
  return (
    <div className="panel" style={{ display: "grid", gridTemplateColumns: "repeat(auto-fit, minmax(150px, 1fr))" }}>
      <div className="stat">
        <span className="muted">Slots in use</span>
        <b>{agents ? `${used} of ${slots.length}` : "–"}</b>
        <Bar share={slots.length ? used / slots.length : 0} label="Slots in use" />
      </div>
      <div className="stat">
        <span className="muted">Running experiments</span>
        <b>{running ?? "–"}</b>
      </div>
      <div className="stat">
        <span className="muted">Waiting in the queue</span>
        <b>{queued ?? "–"}</b>
      </div>
      <div className="stat">
        <span className="muted">Nodes</span>
        <b>{agents?.length ?? "–"}</b>
      </div>
    </div>
  );
}

/** In all pools; unknown until every pool has said. */
function queuedOf(answers: readonly UseQueryResult<Job[]>[]): number | undefined {
  if (!answers.length || answers.some((answer) => !answer.data)) return undefined;
  return answers.flatMap((answer) => answer.data ?? []).filter((job) => job.summary?.state === "STATE_QUEUED").length;
}

function ExperimentRows({ rows, empty }: { rows: readonly Experiment[]; empty: ReactNode }): ReactNode {
  if (!rows.length) return empty;
  return (
    <div className="table-wrap">
      <table className="table">
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td style={{ width: 1 }} className="num faint">
                {row.id}
              </td>
              <td>
                <Link className="clip" to={`/experiments/${row.id}`}>
                  {row.name}
                </Link>
              </td>
              <td style={{ width: 1 }}>
                <StateBadge state={row.state} />
              </td>
              <td style={{ width: 1 }} className="num muted roomy" title={row.searcherMetric ?? ""}>
                {row.bestTrialSearcherMetric == null
                  ? plural(row.numTrials, "trial")
                  : formatNumber(row.bestTrialSearcherMetric)}
              </td>
              <td style={{ width: 1 }} className="num muted">
                <Ago when={row.startTime} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
