/** A grid of charts: train and validation of one metric share a chart; many trials share it too. */
import { useMemo, useState, type ReactNode } from "react";
import type { Series } from "../api/types";
import { useTheme } from "../theme/theme";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import { Empty, Loading, Panel } from "../ui/parts";
import { ChartControls, useChartChoice, type ChartChoice } from "./ChartControls";
import { CurveChart, type Line } from "./CurveChart";
import { colorAt } from "./palette";
import { baseName, planCharts, xValues, type ChartPlan, type MetricId } from "./series";

export interface TrialInk {
  id: number;
  label: string;
  color: string;
  dim?: boolean;
}

interface Props {
  metrics: readonly MetricId[];
  series: readonly Series[];
  trials: readonly TrialInk[];
  first?: string;
  highlight?: string | null;
  onHighlight?: (trialId: string | null) => void;
  onPick?: (trialId: string) => void;
  isPending?: boolean;
  /** Steps of these metrics are not batches (a profiler counts seconds): only time makes sense below them. */
  timed?: boolean;
}

/** Up to so many trials, training is dashed; beyond, dashes only make noise and it is drawn faintly. */
const FEW = 4;
const EPOCHS = new Set(["epoch", "epochs"]);
const COUNTERS = new Set([...EPOCHS, "batches", "step", "steps", "records"]);
const isEpoch = (metric: { name: string }): boolean => EPOCHS.has(metric.name);
/** They count what the x axis counts, so a chart of them says nothing. */
export const isCounter = (metric: { name: string }): boolean => COUNTERS.has(metric.name);

export function MetricCharts(props: Props): ReactNode {
  const [choice, setChoice] = useChartChoice();
  const [large, setLarge] = useState<ChartPlan | null>(null);
  const hasEpochs = props.metrics.some(isEpoch);
  const plans = planCharts(
    props.metrics.filter((metric) => !isCounter(metric)),
    props.first,
  );
  const effective = props.timed
    ? { ...choice, xAxis: "time" as const }
    : choice.xAxis === "epoch" && !hasEpochs
      ? { ...choice, xAxis: "step" as const }
      : choice;
  if (!plans.length)
    return (
      <Panel>
        <Empty title="No metrics yet">
          <p>Curves appear here within a second of the first report.</p>
        </Empty>
      </Panel>
    );
  return (
    <div className="stack" style={{ gap: "var(--s3)" }}>
      <ChartControls choice={effective} onChange={setChoice} hasEpochs={hasEpochs} timed={!!props.timed} />
      <div className="grid charts">
        {plans.map((plan) => (
          <Panel
            key={plan.title}
            title={plan.title}
            flush
            actions={
              <button className="btn quiet icon" aria-label={`Enlarge ${plan.title}`} onClick={() => setLarge(plan)}>
                <Icon name="expand" />
              </button>
            }
          >
            <div style={{ padding: "var(--s1) var(--s2) var(--s2)" }}>
              {props.isPending ? (
                <div style={{ height: 243 }}>
                  <Loading />
                </div>
              ) : (
                <PlanChart {...props} plan={plan} choice={effective} height={220} />
              )}
            </div>
          </Panel>
        ))}
      </div>
      {large && (
        <Dialog
          wide
          title={large.title}
          onClose={() => setLarge(null)}
          footer={
            <button className="btn" onClick={() => setLarge(null)}>
              Close
            </button>
          }
        >
          <PlanChart {...props} plan={large} choice={effective} height={420} />
        </Dialog>
      )}
    </div>
  );
}

function PlanChart({
  plan,
  choice,
  series,
  trials,
  height,
  highlight,
  onHighlight,
  onPick,
}: Props & { plan: ChartPlan; choice: ChartChoice; height: number }): ReactNode {
  const theme = useTheme();
  const [off, setOff] = useState<ReadonlySet<string>>(new Set());
  const single = trials.length === 1;
  const lines = useMemo(() => linesOf(plan, series, trials, choice, theme), [plan, series, trials, choice, theme]);
  const shown = useMemo(() => lines.filter((line) => !off.has(line.metric)), [lines, off]);
  const keys = [...new Map(lines.map((line) => [line.metric, line])).values()];
  const toggle = (metric: string): void => {
    const next = new Set(off);
    if (!next.delete(metric)) next.add(metric);
    setOff(next);
  };
  const lit = useMemo(
    () => shown.find((line) => highlight && line.trial === highlight)?.id ?? null,
    [shown, highlight],
  );
  const byId = useMemo(() => new Map(shown.map((line) => [line.id, line.trial])), [shown]);
  return (
    <>
      <CurveChart
        lines={shown}
        xAxis={choice.xAxis}
        yLabel={plan.title}
        height={height}
        logY={choice.logY}
        smoothing={choice.smoothing}
        highlight={lit}
        {...(onHighlight && !single
          ? { onHighlight: (id: string | null) => onHighlight(id ? (byId.get(id) ?? null) : null) }
          : {})}
        {...(onPick ? { onPick: (id: string) => onPick(byId.get(id) ?? id) } : {})}
      />
      {keys.length > 0 && (
        <div className="legend">
          {keys.map((line) => (
            <button
              key={line.metric}
              type="button"
              aria-pressed={!off.has(line.metric)}
              onClick={() => toggle(line.metric)}
            >
              <i
                style={{
                  borderTopStyle: line.dashed ? "dashed" : "solid",
                  borderColor: single ? line.color : "var(--muted)",
                  opacity: line.faint ? 0.45 : 1,
                }}
              />
              {line.metric}
            </button>
          ))}
        </div>
      )}
    </>
  );
}

/** `training loss`; but not `validation validation_loss`. */
export function metricLabel({ group, name }: MetricId): string {
  const isNamed = baseName(name) !== name || (group !== "training" && group !== "validation");
  return isNamed ? name : `${group} ${name}`;
}

type TrialLine = Line & { trial: string; metric: string };

function linesOf(
  plan: ChartPlan,
  series: readonly Series[],
  trials: readonly TrialInk[],
  choice: ChartChoice,
  theme: "light" | "dark",
): TrialLine[] {
  const single = trials.length === 1;
  const crowded = trials.length > FEW;
  const wanted = new Map(plan.metrics.map((metric, index) => [`${metric.group}/${metric.name}`, index]));
  const epochs =
    choice.xAxis === "epoch"
      ? new Map(series.filter(isEpoch).map((item) => [item.trialId, item]))
      : new Map<number, Series>();
  const inks = new Map(trials.map((trial) => [trial.id, trial]));
  return series.flatMap((item) => {
    const index = wanted.get(`${item.group}/${item.name}`);
    const trial = inks.get(item.trialId);
    if (index === undefined || !trial) return [];
    const isTraining = item.group === "training";
    const metric = metricLabel(item);
    return [
      {
        id: `${item.trialId}/${item.group}/${item.name}`,
        trial: String(item.trialId),
        metric,
        label: single ? metric : plan.metrics.length > 1 ? `${trial.label} ${metric}` : trial.label,
        color: single ? colorAt(index, theme) : trial.color,
        dashed: !single && !crowded && isTraining && plan.metrics.length > 1,
        faint: crowded && isTraining && plan.metrics.length > 1,
        dim: !!trial.dim,
        x: xValues(item, choice.xAxis, epochs.get(item.trialId)),
        y: item.values,
      },
    ];
  });
}
