/** Any set of trials side by side: curves overlaid, and a table that begins with what differs. */
import { useQueries, type UseQueryResult } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import { useLive } from "../api/events";
import { experimentQuery, trialQuery } from "../api/queries";
import { metricIds } from "../api/series";
import { useManySeries } from "../api/manySeries";
import type { Experiment, Trial } from "../api/types";
import { isCounter, MetricCharts } from "../charts/MetricCharts";
import { colorAt } from "../charts/palette";
import { useTheme } from "../theme/theme";
import { flatten, formatNumber, formatValue } from "../text/format";
import { isLive } from "../text/state";
import { Empty, ErrorNote, Loading, PageHead, Panel, StateBadge } from "../ui/parts";

/** Answers to several questions as one. */
function all<T>(answers: readonly UseQueryResult<T>[]): { data: T[]; isPending: boolean; error: unknown } {
  return {
    data: answers.flatMap((answer) => (answer.data === undefined ? [] : [answer.data])),
    isPending: answers.some((answer) => answer.isPending),
    error: answers.find((answer) => answer.error)?.error ?? null,
  };
}

const numbers = (text: string | null): number[] => (text ?? "").split(",").map(Number).filter(Boolean);

export default function ComparePage(): ReactNode {
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const theme = useTheme();
  const [lit, setLit] = useState<string | null>(null);
  const asked = numbers(params.get("experiments"));
  const experiments = useQueries({ queries: asked.map((id) => experimentQuery(id)), combine: all });
  const ids = useMemo(
    () => [...new Set([...numbers(params.get("trials")), ...experiments.data.flatMap(bestTrialOf)])],
    [params, experiments.data],
  );
  const answers = useQueries({ queries: ids.map((id) => trialQuery(id)), combine: all });
  const trials = answers.data;
  useLive(
    ids.map((id) => `trial/${id}`),
    ids.map((id) => ["trial", id]),
    500,
  );
  const metrics = useMemo(
    () => metricIds(trials).filter(({ group }) => group === "training" || group === "validation"),
    [trials],
  );
  const drawn = useManySeries(
    ids,
    metrics,
    trials.some((trial) => isLive(trial.state)),
  );
  const inks = useMemo(
    () => trials.map((trial, index) => ({ id: trial.id, label: `trial ${trial.id}`, color: colorAt(index, theme) })),
    [trials, theme],
  );
  const error = experiments.error ?? answers.error;
  const isPending = experiments.isPending || answers.isPending;
  if (!ids.length && !isPending)
    return (
      <>
        <PageHead title="Compare" />
        <ErrorNote error={error} />
        <Panel>
          <Empty title="Nothing to compare">
            <p>Select experiments or trials in a list and choose Compare.</p>
            <Link className="btn" to="/experiments">
              Experiments
            </Link>
          </Empty>
        </Panel>
      </>
    );
  return (
    <>
      <PageHead title={`Compare ${ids.length} trials`} crumbs={[{ label: "Experiments", to: "/experiments" }]} />
      <ErrorNote error={error} />
      {isPending ? (
        <Loading />
      ) : (
        <>
          <Differences
            trials={trials}
            colors={new Map(inks.map((trial) => [trial.id, trial.color]))}
            lit={lit}
            onHover={setLit}
          />
          <MetricCharts
            metrics={metrics}
            series={drawn}
            trials={inks}
            highlight={lit}
            onHighlight={setLit}
            onPick={(id) => void navigate(`/trials/${id}`)}
          />
        </>
      )}
    </>
  );
}

/** An experiment stands for its best trial; before the first validation, for its first. */
function bestTrialOf(experiment: Experiment): number[] {
  const id = experiment.bestTrialId ?? experiment.trialIds?.[0];
  return id ? [id] : [];
}

interface DifferencesProps {
  trials: readonly Trial[];
  colors: ReadonlyMap<number, string>;
  lit: string | null;
  onHover: (id: string | null) => void;
}

function Differences({ trials, colors, lit, onHover }: DifferencesProps): ReactNode {
  const [all, setAll] = useState(false);
  const rows = useMemo(() => compareRows(trials), [trials]);
  const shown = all ? rows : rows.filter((row) => row.differs);
  const same = rows.length - rows.filter((row) => row.differs).length;
  return (
    <Panel
      title="What differs"
      flush
      actions={
        same > 0 && (
          <button className="btn quiet" onClick={() => setAll(!all)}>
            {all ? "Only what differs" : `Also the ${same} that are equal`}
          </button>
        )
      }
    >
      <div className="table-wrap" style={{ maxHeight: 420 }}>
        <table className="table" aria-label="Comparison">
          <thead>
            <tr>
              <th />
              {trials.map((trial) => (
                <th
                  key={trial.id}
                  className="num"
                  onMouseEnter={() => onHover(String(trial.id))}
                  onMouseLeave={() => onHover(null)}
                  style={lit === String(trial.id) ? { color: "var(--text)" } : {}}
                >
                  <span className="swatch" style={{ background: colors.get(trial.id), marginRight: 6 }} />
                  <Link to={`/trials/${trial.id}`}>Trial {trial.id}</Link>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr>
              <td className="muted">State</td>
              {trials.map((trial) => (
                <td key={trial.id} className="num">
                  <StateBadge state={trial.state} />
                </td>
              ))}
            </tr>
            {shown.map((row) => (
              <tr key={row.name}>
                <td className={row.differs ? "" : "muted"}>{row.name}</td>
                {row.values.map((value, i) => (
                  <td key={i} className="num">
                    {value}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

export interface CompareRow {
  name: string;
  values: string[];
  differs: boolean;
}

/** Metrics and steps first, then hyperparameters that differ, then those that are equal. */
export function compareRows(trials: readonly Trial[]): CompareRow[] {
  const hparams = trials.map((trial) => flatten(trial.hparams));
  const best = trials.map((trial) => trial.bestValidation?.metrics.avgMetrics ?? {});
  const row = (name: string, values: string[], always = false): CompareRow => ({
    name,
    values,
    differs: always || new Set(values).size > 1,
  });
  const names = (list: readonly Record<string, unknown>[]): string[] =>
    [...new Set(list.flatMap((item) => Object.keys(item)))].sort();
  const results = [
    row(
      "Experiment",
      trials.map((trial) => String(trial.experimentId)),
    ),
    row(
      "Steps",
      trials.map((trial) => trial.totalBatchesProcessed.toLocaleString("en-US")),
      true,
    ),
    ...names(best)
      .filter((name) => !isCounter({ name }))
      .map((name) =>
        row(
          name,
          best.map((metrics) => formatNumber(metrics[name] ?? undefined, 5)),
          true,
        ),
      ),
  ];
  const parameters = names(hparams).map((name) =>
    row(
      name,
      hparams.map((values) => (name in values ? formatValue(values[name]) : "–")),
    ),
  );
  return [...results, ...parameters.filter((item) => item.differs), ...parameters.filter((item) => !item.differs)];
}
