/** Any set of trials side by side: curves overlaid, and a table that begins with what differs. */
import { useQueries, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import { useLive } from "../api/events";
import { experimentQuery, experimentsQuery, trialsByIdQuery } from "../api/queries";
import { isLearning, metricIds } from "../api/series";
import { useManySeries } from "../api/manySeries";
import type { Experiment, Trial } from "../api/types";
import { isCounter, MetricCharts, type TrialInk } from "../charts/MetricCharts";
import { LineSample } from "../charts/RunLegend";
import { strokeOf } from "../charts/palette";
import { useTheme } from "../theme/theme";
import { flatten, formatNumber, formatValue } from "../text/format";
import { isLive } from "../text/state";
import { Empty, ErrorNote, Loading, PageHead, Panel, StateBadge } from "../ui/parts";

/** In the order they were asked for, which is the reader's. */
const inOrder = <T extends { id: number }>(ids: readonly number[], found: readonly T[]): T[] =>
  ids.flatMap((id) => found.find((each) => each.id === id) ?? []);

/** An experiment that was chosen is called by its name; several trials of one by their numbers. */
function nameOf(trial: Trial, experiments: readonly Experiment[]): string {
  const experiment = experiments.find((each) => each.id === trial.experimentId);
  return experiment ? `${experiment.id} ${experiment.name}` : `trial ${trial.id}`;
}

const numbers = (text: string | null): number[] => (text ?? "").split(",").map(Number).filter(Boolean);

export default function ComparePage(): ReactNode {
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const theme = useTheme();
  const [lit, setLit] = useState<string | null>(null);
  const asked = useMemo(() => numbers(params.get("experiments")), [params]);
  const page = useQuery({
    ...experimentsQuery({ "experimentIdFilter.incl": asked, limit: asked.length }),
    enabled: asked.length > 0,
  });
  const experiments = useMemo(() => page.data?.experiments ?? [], [page.data]);
  // Before the first validation an experiment has no best trial; its first one is asked for.
  const unknown = useMemo(() => experiments.filter((each) => !each.bestTrialId).map((each) => each.id), [experiments]);
  const first = useQueries({ queries: unknown.map((id) => experimentQuery(id)), combine: dataOf });
  const ids = useMemo(() => {
    const firstOf = new Map(first.map((each) => [each.id, each.trialIds?.[0]]));
    const chosen = inOrder(asked, experiments).flatMap((each) => each.bestTrialId ?? firstOf.get(each.id) ?? []);
    return [...new Set([...numbers(params.get("trials")), ...chosen])];
  }, [params, asked, experiments, first]);
  const answers = useQuery(trialsByIdQuery(ids));
  const trials = useMemo(() => inOrder(ids, answers.data ?? []), [ids, answers.data]);
  useLive(
    trials.filter((trial) => isLive(trial.state)).map((trial) => `trial/${trial.id}`),
    [["trials"]],
    2000,
  );
  const metrics = useMemo(() => metricIds(trials).filter(isLearning), [trials]);
  const drawn = useManySeries(
    ids,
    metrics,
    trials.some((trial) => isLive(trial.state)),
  );
  const inks = useMemo(
    () => trials.map((trial) => ({ id: trial.id, label: nameOf(trial, experiments), ...strokeOf(trial.id, theme) })),
    [trials, experiments, theme],
  );
  const error = page.error ?? answers.error;
  const isPending = page.isLoading || answers.isLoading || first.length < unknown.length;
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
            inks={new Map(inks.map((trial) => [trial.id, trial]))}
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

const dataOf = (answers: readonly UseQueryResult<Experiment>[]): Experiment[] =>
  answers.flatMap((answer) => answer.data ?? []);

interface DifferencesProps {
  trials: readonly Trial[];
  inks: ReadonlyMap<number, TrialInk>;
  lit: string | null;
  onHover: (id: string | null) => void;
}

function Differences({ trials, inks, lit, onHover }: DifferencesProps): ReactNode {
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
              <th>
                <span className="sr">Fact</span>
              </th>
              {trials.map((trial) => (
                <th
                  key={trial.id}
                  className="num"
                  onMouseEnter={() => onHover(String(trial.id))}
                  onMouseLeave={() => onHover(null)}
                  style={lit === String(trial.id) ? { color: "var(--text)" } : {}}
                >
                  <LineSample color={inks.get(trial.id)?.color ?? ""} dash={inks.get(trial.id)?.dash ?? []} />{" "}
                  <Link to={`/trials/${trial.id}`}>{inks.get(trial.id)?.label}</Link>
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
