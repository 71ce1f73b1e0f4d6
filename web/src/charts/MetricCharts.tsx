/** A grid of charts: train and validation of one metric share a chart; many trials share it too. */
import { useMemo, useState, type ReactNode } from "react";
import { useDetail } from "../api/detail";
import type { Series } from "../api/types";
import { useTheme } from "../theme/theme";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import { Empty, Loading, Panel } from "../ui/parts";
import { WhenSeen } from "../ui/WhenSeen";
import { ChartControls, useChartChoice, type ChartChoice } from "./ChartControls";
import { CurveChart, type Line } from "./CurveChart";
import { colorAt } from "./palette";
import { RunLegend } from "./RunLegend";
import {
  baseName,
  planCharts,
  sectionsOf,
  stretchOf,
  xValues,
  type ChartPlan,
  type MetricId,
  type Section,
  type Stretch,
} from "./series";

export interface TrialInk {
  id: number;
  label: string;
  color: string;
  dash?: readonly number[];
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

/** From so many charts on, a box to find one is worth its place. */
const MANY = 9;
const CHART_PX = 220;
const LEGEND_PX = 23;
/** More trials than a legend can name. */
const MOST_NAMED = 60;
const EPOCHS = new Set(["epoch", "epochs"]);
const COUNTERS = new Set([...EPOCHS, "batches", "step", "steps", "records"]);
const isEpoch = (metric: { name: string }): boolean => EPOCHS.has(metric.name);
/** They count what the x axis counts, so a chart of them says nothing. */
export const isCounter = (metric: { name: string }): boolean => COUNTERS.has(metric.name);

export function MetricCharts(props: Props): ReactNode {
  const [choice, setChoice] = useChartChoice();
  const [large, setLarge] = useState<ChartPlan | null>(null);
  const [find, setFind] = useState("");
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const { metrics, first } = props;
  const hasEpochs = metrics.some(isEpoch);
  const plans = useMemo(
    () =>
      planCharts(
        metrics.filter((metric) => !isCounter(metric)),
        first,
      ),
    [metrics, first],
  );
  const sections = useMemo(
    () => sectionsOf(plans.filter((plan) => plan.title.toLowerCase().includes(find.trim().toLowerCase()))),
    [plans, find],
  );
  const trials = useMemo(() => props.trials.filter((trial) => !hidden.has(trial.id)), [props.trials, hidden]);
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
  const drawn = { ...props, trials, single: props.trials.length === 1 };
  return (
    <div className="stack" style={{ gap: "var(--s3)" }}>
      <div className="row wrap spread">
        <ChartControls choice={effective} onChange={setChoice} hasEpochs={hasEpochs} timed={!!props.timed} />
        {plans.length > MANY && (
          <input
            className="input"
            type="search"
            placeholder={`Find one of ${plans.length} charts`}
            aria-label="Find a chart"
            value={find}
            onChange={(event) => setFind(event.target.value)}
          />
        )}
      </div>
      {props.trials.length > 1 && props.trials.length <= MOST_NAMED && (
        <RunLegend trials={props.trials} hidden={hidden} onHidden={setHidden} onHighlight={props.onHighlight} />
      )}
      {sections.map((section) => (
        <Charts key={section.name} {...drawn} section={section} choice={effective} onLarge={setLarge} />
      ))}
      {!sections.length && <Empty title={`No chart has “${find}” in its name`} />}
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
          <PlanChart {...drawn} plan={large} choice={effective} height={420} />
        </Dialog>
      )}
    </div>
  );
}

interface DrawnProps extends Props {
  /** One trial is looked at: its metrics have the colours. Not the same as one that is left when others are hidden. */
  single: boolean;
}
interface SectionProps extends DrawnProps {
  section: Section<ChartPlan>;
  choice: ChartChoice;
  onLarge: (plan: ChartPlan) => void;
}

function Charts(props: SectionProps): ReactNode {
  const { section, choice, onLarge } = props;
  const [isOpen, setOpen] = useState(true);
  return (
    <>
      {section.name && (
        <h2>
          <button type="button" className="btn quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <Icon name={isOpen ? "down" : "right"} size={12} />
            {section.name} <span className="faint">{section.plans.length}</span>
          </button>
        </h2>
      )}
      {isOpen && (
        <div className="grid charts">
          {section.plans.map((plan) => (
            <Panel
              key={plan.title}
              title={plan.title}
              flush
              actions={
                <button className="btn quiet icon" aria-label={`Enlarge ${plan.title}`} onClick={() => onLarge(plan)}>
                  <Icon name="expand" />
                </button>
              }
            >
              <div style={{ padding: "var(--s1) var(--s2) var(--s2)" }}>
                {props.isPending ? (
                  <div style={{ height: CHART_PX + LEGEND_PX }}>
                    <Loading />
                  </div>
                ) : (
                  <WhenSeen height={CHART_PX + LEGEND_PX}>
                    <PlanChart {...props} plan={plan} choice={choice} height={CHART_PX} />
                  </WhenSeen>
                )}
              </div>
            </Panel>
          ))}
        </div>
      )}
    </>
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
  single,
}: DrawnProps & { plan: ChartPlan; choice: ChartChoice; height: number }): ReactNode {
  const theme = useTheme();
  const [off, setOff] = useState<ReadonlySet<string>>(new Set());
  const [stretch, setStretch] = useState<Stretch | null>(null);
  const detailed = useDetail(series, plan.metrics, stretch);
  const lines = useMemo(
    () => linesOf(plan, detailed, trials, choice, theme, single),
    [plan, detailed, trials, choice, theme, single],
  );
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
        onZoom={(range) => setStretch(range && stretchOf(lines, range))}
        {...(onHighlight && !single
          ? { onHighlight: (id: string | null) => onHighlight(id ? (byId.get(id) ?? null) : null) }
          : {})}
        {...(onPick ? { onPick: (id: string) => onPick(byId.get(id) ?? id) } : {})}
      />
      {(single || keys.length > 1) && (
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

type TrialLine = Line & { trial: string; metric: string; steps: readonly number[] };

function linesOf(
  plan: ChartPlan,
  series: readonly Series[],
  trials: readonly TrialInk[],
  choice: ChartChoice,
  theme: "light" | "dark",
  single: boolean,
): TrialLine[] {
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
        dash: single ? [] : (trial.dash ?? []),
        faint: !single && isTraining && plan.metrics.length > 1,
        dim: !!trial.dim,
        steps: item.steps,
        x: xValues(item, choice.xAxis, epochs.get(item.trialId)),
        y: item.values,
      },
    ];
  });
}
