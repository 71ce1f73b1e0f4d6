import type { ReactNode } from "react";
import type { Experiment, Trial } from "../../api/types";
import { bracketsOf, rungCountsOf, unitOf } from "../../charts/rungs";
import { formatNumber, toNumber } from "../../text/format";
import { Empty, Loading, Panel } from "../../ui/parts";

/** How far up the ladder trials got; without trials, they are on their way. A trial's length is its time metric where there is one, else its steps. */
export function RungsPanel({
  experiment,
  trials,
}: {
  experiment: Experiment;
  trials: readonly Trial[] | undefined;
}): ReactNode {
  const searcher = (experiment.config["searcher"] ?? {}) as Record<string, unknown>;
  const brackets = bracketsOf(searcher);
  const unit = unitOf(searcher);
  const tallest = brackets[0];
  if (!tallest)
    return (
      <Panel title="Rungs">
        <Empty title="This search has no rungs">
          {experiment.searcherType === "adaptive_tpe" ? (
            <p>adaptive_tpe stops a trial when its learning curve leaves it little chance to become the best.</p>
          ) : (
            <p>
              {experiment.searcherType} has no ladder. Use <code>adaptive_asha</code> to stop poor trials early.
            </p>
          )}
        </Empty>
      </Panel>
    );
  if (!trials)
    return (
      <Panel title="Rungs">
        <Loading />
      </Panel>
    );
  const reached = trials.map((trial) => lengthReached(trial, unit));
  const counts = rungCountsOf(tallest.rungs, reached);
  const most = Math.max(1, trials.length);
  return (
    <Panel title={brackets.length > 1 ? `Rungs, ${brackets.length} brackets` : "Rungs"}>
      <div className="stack tight">
        <Rung label="started" count={trials.length} most={most} />
        {counts.map(({ at, reached: count }) => (
          <Rung key={at} label={`${formatNumber(at)} ${unit}`} count={count} most={most} />
        ))}
        <p className="faint">
          Trials that trained at least this long. At each rung the best 1 in {String(searcher["divisor"] ?? 4)} go on
          {brackets.length > 1
            ? `; shorter brackets start at ${brackets
                .slice(1)
                .map((bracket) => formatNumber(bracket.rungs[0]))
                .join(" and ")} ${unit}`
            : ""}
          .
        </p>
      </div>
    </Panel>
  );
}

function lengthReached(trial: Trial, unit: string): number {
  const timed = toNumber(trial.latestValidation?.metrics.avgMetrics[unit] ?? undefined);
  return Math.max(timed ?? 0, unit === "batches" || timed === undefined ? trial.totalBatchesProcessed : 0);
}

function Rung({ label, count, most }: { label: string; count: number; most: number }): ReactNode {
  return (
    <div className="row">
      <span className="ellipsis" style={{ width: 150 }}>
        {label}
      </span>
      <div className="bar grow" style={{ height: 10 }}>
        <i style={{ width: `${(100 * count) / most}%` }} />
      </div>
      <span className="num" style={{ width: 44 }}>
        {count}
      </span>
    </div>
  );
}
