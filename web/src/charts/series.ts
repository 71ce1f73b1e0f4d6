/** Metric series: joining live tails, pairing train with validation, choosing what the x axis counts. Pure. */
import { toNumber } from "../text/format";
import type { Series, WireSeries } from "../api/types";

export interface MetricId {
  group: string;
  name: string;
}
export type XAxis = "step" | "epoch" | "time";

/** Add what came after to what was there. Points at or after the first new step are replaced: a restart rewrote them. */
export function mergeSeries(known: Series | undefined, fresh: Series): Series {
  if (!known?.steps.length || !fresh.steps.length)
    return known?.steps.length && !fresh.steps.length
      ? { ...known, totalPoints: Math.max(known.totalPoints, fresh.totalPoints) }
      : fresh;
  const cut = lowerBound(known.steps, fresh.steps[0]!);
  return {
    ...fresh,
    steps: [...known.steps.slice(0, cut), ...fresh.steps],
    values: [...known.values.slice(0, cut), ...fresh.values],
    times: [...known.times.slice(0, cut), ...fresh.times],
    totalPoints: Math.max(known.totalPoints, fresh.totalPoints),
  };
}

/** Steps that are looked at, both ends included. */
export interface Stretch {
  from: number;
  to: number;
}

/** The finer points instead of the coarse ones between the first and the last of them. */
export function spliceSeries(known: Series, finer: Series): Series {
  if (!finer.steps.length) return known;
  const [start, end] = [lowerBound(known.steps, finer.steps[0]!), lowerBound(known.steps, finer.steps.at(-1)! + 1)];
  const joined = <T>(old: readonly T[], fresh: readonly T[]): T[] => [
    ...old.slice(0, start),
    ...fresh,
    ...old.slice(end),
  ];
  return {
    ...known,
    steps: joined(known.steps, finer.steps),
    values: joined(known.values, finer.values),
    times: joined(known.times, finer.times),
  };
}

/** The steps that stand between two x values of any of the lines; null when no line is there. */
export function stretchOf(
  lines: readonly { x: readonly number[]; steps: readonly number[] }[],
  [low, high]: readonly [number, number],
): Stretch | null {
  let [from, to] = [Infinity, -Infinity];
  for (const { x, steps } of lines) {
    const [first, last] = [lowerBound(x, low) - 1, lowerBound(x, high)];
    if (last < 0 || first >= steps.length - 1) continue;
    from = Math.min(from, steps[Math.max(0, first)]!);
    to = Math.max(to, steps[Math.min(last, steps.length - 1)]!);
  }
  return from <= to ? { from, to } : null;
}

export interface Section<P> {
  /** Empty: what has no prefix. */
  name: string;
  plans: P[];
}

/** `layer1/grad` and `layer1/weight` belong under `layer1`; a prefix of one chart is none. What has no prefix is first. */
export function sectionsOf<P extends { title: string }>(plans: readonly P[]): Section<P>[] {
  const prefixOf = (title: string): string => /^(.+?)(?:\/|: )/.exec(title)?.[1] ?? "";
  const counts = new Map<string, number>();
  for (const { title } of plans) counts.set(prefixOf(title), (counts.get(prefixOf(title)) ?? 0) + 1);
  const sections = new Map<string, P[]>([["", []]]);
  for (const plan of plans) {
    const prefix = prefixOf(plan.title);
    const name = (counts.get(prefix) ?? 0) > 1 ? prefix : "";
    sections.set(name, [...(sections.get(name) ?? []), plan]);
  }
  return [...sections].filter(([, members]) => members.length).map(([name, members]) => ({ name, plans: members }));
}

/** NaN and infinities travel as text; charts want numbers. */
export function normalise(series: WireSeries): Series {
  return { ...series, values: series.values.map((value) => toNumber(value) ?? NaN) };
}

export function lowerBound(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function nearestIndex(sorted: readonly number[], value: number): number {
  const at = lowerBound(sorted, value);
  if (at === 0) return sorted.length ? 0 : -1;
  if (at === sorted.length) return at - 1;
  return value - sorted[at - 1]! <= sorted[at]! - value ? at - 1 : at;
}

/** `val_loss` of validation and `loss` of training belong on one chart called `loss`. */
export const baseName = (name: string): string =>
  name.replace(/^(val|valid|validation|eval|test|train|training)[_./ -]+/i, "");

export interface ChartPlan {
  title: string;
  metrics: MetricId[];
}

/** One chart per base name; the searcher's metric first, then charts with both sides, then by name. */
export function planCharts(metrics: readonly MetricId[], first = ""): ChartPlan[] {
  const plans = new Map<string, MetricId[]>();
  for (const metric of metrics) {
    const title =
      metric.group === "training" || metric.group === "validation"
        ? baseName(metric.name)
        : `${metric.group}: ${metric.name}`;
    plans.set(title, [...(plans.get(title) ?? []), metric]);
  }
  const rank = (plan: ChartPlan): number =>
    plan.metrics.some((metric) => metric.name === first) ? 0 : plan.metrics.length > 1 ? 1 : 2;
  return [...plans]
    .map(([title, found]) => ({ title, metrics: found }))
    .sort((a, b) => rank(a) - rank(b) || a.title.localeCompare(b.title));
}

/** X values of a series. Epochs come from a metric that counts them, read at the same steps. */
export function xValues(series: Series, axis: XAxis, epochs?: Series): number[] {
  if (axis === "time") {
    const start = series.times[0] ?? 0;
    return series.times.map((time) => time - start);
  }
  if (axis === "epoch" && epochs?.steps.length) return series.steps.map((step) => interpolate(epochs, step));
  return series.steps;
}

function interpolate(known: Series, step: number): number {
  const at = lowerBound(known.steps, step);
  if (at === known.steps.length) return extrapolate(known, step);
  if (known.steps[at] === step || at === 0)
    return known.values[at]! * (at === 0 && known.steps[0] ? step / known.steps[0] : 1);
  const share = (step - known.steps[at - 1]!) / (known.steps[at]! - known.steps[at - 1]!);
  return known.values[at - 1]! + share * (known.values[at]! - known.values[at - 1]!);
}

function extrapolate(known: Series, step: number): number {
  const last = known.steps.length - 1;
  return known.steps[last] ? (known.values[last]! * step) / known.steps[last] : known.values[last]!;
}

/** Smallest and largest finite value whose x lies within [from, to]; positives only where a log axis asks for it. */
export function extent(
  xs: readonly number[],
  ys: readonly number[],
  from: number,
  to: number,
  positive: boolean,
): [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  const start = Math.max(0, lowerBound(xs, from) - 1);
  for (let i = start; i < xs.length; i++) {
    const y = ys[i]!;
    if (Number.isFinite(y) && (!positive || y > 0)) {
      if (y < low) low = y;
      if (y > high) high = y;
    }
    if (xs[i]! > to) break;
  }
  return low <= high ? [low, high] : null;
}
