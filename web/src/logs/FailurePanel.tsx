/** Why a trial failed, on top: the exception, what led to it, and the way to its line in the log. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import type { Trial } from "../api/types";
import { bare } from "../text/state";
import { Loading, Panel } from "../ui/parts";
import { failureOf } from "./blocks";
import { fetchBefore, NO_FILTER, textOf } from "./stream";

const LOOKED_AT = 500;
const SHOWN = 14;

const lastLinesQuery = (trialId: number) => ({
  queryKey: ["trial", trialId, "last-lines"],
  staleTime: Infinity,
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    fetchBefore({ trial: trialId }, NO_FILTER, undefined, signal, LOOKED_AT),
});

export function FailurePanel({ trial }: { trial: Trial }): ReactNode {
  const isFailed = bare(trial.state) === "ERROR";
  const log = useQuery({ ...lastLinesQuery(trial.id), enabled: isFailed });
  if (!isFailed) return null;
  const failure = failureOf(log.data ?? []);
  const first = failure.lines[0];
  const to = `/trials/${trial.id}/logs${first ? `?line=${first.id}&at=${encodeURIComponent(first.timestamp)}` : ""}`;
  return (
    <Panel
      title={<span className="bad-text">{failure.reason || trial.exitReason || `Trial ${trial.id} failed`}</span>}
      actions={
        <Link className="btn" to={to}>
          Show in the log
        </Link>
      }
    >
      <div className="stack tight">
        <p className="muted">
          <Link to={`/trials/${trial.id}`}>Trial {trial.id}</Link> failed
          {trial.exitReason ? `: ${trial.exitReason}` : "."}
        </p>
        {log.isPending ? (
          <Loading />
        ) : (
          failure.lines.length > 0 && (
            <pre className="last-lines" tabIndex={0} aria-label="Last lines">
              {failure.lines.slice(-SHOWN).map(textOf).join("\n")}
            </pre>
          )
        )}
      </div>
    </Panel>
  );
}
