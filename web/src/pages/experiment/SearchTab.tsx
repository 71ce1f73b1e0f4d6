/** Pictures of a search: all learning curves, which hyperparameters mattered, where the good trials lie, the ladder. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useState, type ReactNode } from "react";
import { useNavigate } from "react-router";
import { trialsQuery } from "../../api/queries";
import { useExperimentSeries, metricIds } from "../../api/series";
import type { Experiment, Trial } from "../../api/types";
import { ChartControls, useChartChoice } from "../../charts/ChartControls";
import { CurveChart, type Line } from "../../charts/CurveChart";
import { metricLabel } from "../../charts/MetricCharts";
import { strokeOf } from "../../charts/palette";
import { xValues, type MetricId } from "../../charts/series";
import { useTheme } from "../../theme/theme";
import { plural } from "../../text/format";
import { isLive } from "../../text/state";
import { Empty, ErrorNote, Loading, NoRows, Panel, Segment } from "../../ui/parts";
import { ImportancePanel } from "./ImportancePanel";
import { ParetoPanel } from "./ParetoPanel";
import { RungsPanel } from "./RungsPanel";
import { dimensionsOf, objectivesOf, pointsOf } from "./searchData";
import { useAddressed } from "../../ui/useAddressed";

const SearchCharts = lazy(() => import("./SearchCharts"));
const FEW = 200;
const VIEWS = ["curves", "parallel", "scatter", "heat"] as const;
type View = (typeof VIEWS)[number];

export default function SearchTab({ experiment }: { experiment: Experiment }): ReactNode {
  const [view, setView] = useAddressed<View>("view", VIEWS);
  // A large search draws its curves first; what else is known of its trials follows.
  const [isDrawn, setDrawn] = useState(experiment.numTrials <= FEW);
  const page = useQuery({
    ...trialsQuery(experiment.id, { sortBy: "SORT_BY_ID", descending: false }),
    staleTime: 5000,
    enabled: isDrawn,
  });
  const trials = useMemo(() => page.data?.trials ?? [], [page.data]);
  const points = useMemo(() => pointsOf(trials), [trials]);
  const dimensions = useMemo(() => dimensionsOf(points, experiment), [points, experiment]);
  if (!trials.length && !page.isPending)
    return (
      <Panel>
        <ErrorNote error={page.error} />
        <NoRows of={page}>
          <Empty title="No trial has started yet">
            <p>The pictures appear with the first validations.</p>
          </Empty>
        </NoRows>
      </Panel>
    );
  return (
    <div className="stack">
      <div className="toolbar">
        <Segment
          label="Picture"
          value={view}
          onChange={setView}
          options={[
            ["curves", "Learning curves"],
            ["parallel", "Parallel coordinates"],
            ["scatter", "Scatter"],
            ["heat", "Heat map"],
          ]}
        />
        <span className="muted">
          {page.isPending
            ? plural(experiment.numTrials, "trial")
            : `${plural(trials.length, "trial")}, ${points.length} with a value of ${experiment.searcherMetric}`}
        </span>
      </div>
      {view === "curves" ? (
        <Curves experiment={experiment} trials={trials} onDrawn={setDrawn} />
      ) : page.isPending ? (
        <Panel>
          <Loading />
        </Panel>
      ) : points.length < 2 || !dimensions.length ? (
        <Panel>
          <Empty title="Too little to draw yet">
            <p>These pictures need two validated trials whose hyperparameters differ.</p>
          </Empty>
        </Panel>
      ) : (
        <Suspense fallback={<Loading />}>
          <SearchCharts kind={view} experiment={experiment} points={points} dimensions={dimensions} />
        </Suspense>
      )}
      {objectivesOf(experiment.config).length > 1 && <ParetoPanel experiment={experiment} trials={trials} />}
      <div className="grid two">
        <ImportancePanel
          points={page.isPending ? undefined : points}
          metric={experiment.searcherMetric ?? "the metric"}
        />
        <RungsPanel experiment={experiment} trials={page.isPending ? undefined : trials} />
      </div>
    </div>
  );
}

function Curves({
  experiment,
  trials,
  onDrawn,
}: {
  experiment: Experiment;
  trials: readonly Trial[];
  onDrawn: (isDrawn: boolean) => void;
}): ReactNode {
  const theme = useTheme();
  const navigate = useNavigate();
  const [choice, setChoice] = useChartChoice();
  const [chosen, setChosen] = useState("");
  // The searcher's metric is known before the trials are: its curves need not wait for them.
  const all = useMemo(
    () => withSearcherMetric(metricIds(trials), experiment.searcherMetric),
    [trials, experiment.searcherMetric],
  );
  const metric = useMemo(
    () =>
      all.find((item) => `${item.group}/${item.name}` === chosen) ??
      all.find((item) => item.group === "validation" && item.name === experiment.searcherMetric) ??
      all[0],
    [all, chosen, experiment.searcherMetric],
  );
  const metrics = useMemo(() => (metric ? [metric] : []), [metric]);
  const drawn = useExperimentSeries(experiment.id, metrics, { count: experiment.numTrials }, isLive(experiment.state));
  useEffect(() => {
    if (!drawn.isPending) onDrawn(true);
  }, [drawn.isPending, onDrawn]);
  const stopped = useMemo(() => stoppedEarly(trials), [trials]);
  const xAxis = choice.xAxis === "epoch" ? "step" : choice.xAxis;
  const lines = useMemo(
    () =>
      drawn.series.map((series): Line => ({
        id: String(series.trialId),
        label: `trial ${series.trialId}`,
        ...strokeOf(series.trialId, theme),
        dim: stopped.has(series.trialId),
        x: xValues(series, xAxis),
        y: series.values,
      })),
    [drawn.series, theme, xAxis, stopped],
  );
  const picker = (
    <select
      className="select"
      aria-label="Metric"
      value={metric ? `${metric.group}/${metric.name}` : ""}
      onChange={(event) => setChosen(event.target.value)}
    >
      {all.map((item) => (
        <option key={`${item.group}/${item.name}`} value={`${item.group}/${item.name}`}>
          {metricLabel(item)}
        </option>
      ))}
    </select>
  );
  return (
    <Panel
      title={stopped.size ? `Learning curves, ${stopped.size} stopped early in grey` : "Learning curves"}
      actions={picker}
    >
      <ErrorNote error={drawn.error} />
      <ChartControls choice={{ ...choice, xAxis }} onChange={setChoice} hasEpochs={false} />
      {drawn.isPending ? (
        <div style={{ height: 380 }}>
          <Loading />
        </div>
      ) : (
        <CurveChart
          lines={lines}
          xAxis={xAxis}
          yLabel={metric?.name ?? ""}
          height={380}
          logY={choice.logY}
          smoothing={choice.smoothing}
          onPick={(id) => void navigate(`/trials/${id}`)}
        />
      )}
    </Panel>
  );
}

function withSearcherMetric(found: readonly MetricId[], name: string | null): MetricId[] {
  if (!name || found.some((metric) => metric.group === "validation" && metric.name === name)) return [...found];
  return [{ group: "validation", name }, ...found];
}

/** Ended well before the one that got furthest: what an early-stopping search let go. */
export function stoppedEarly(trials: readonly Trial[]): Set<number> {
  const furthest = Math.max(0, ...trials.map((trial) => trial.totalBatchesProcessed));
  const early = trials.filter(
    (trial) => /COMPLETED|CANCELED|ERROR/.test(trial.state) && trial.totalBatchesProcessed < furthest * 0.95,
  );
  return new Set(early.map((trial) => trial.id));
}
