/** What the search pictures need, out of trials: flat values, which kind each hyperparameter is, and the metric. */
import type { Experiment, Trial } from "../../api/types";
import { flatten, toNumber } from "../../text/format";

export interface Point {
  trial: number;
  state: string;
  values: Record<string, unknown>;
  metric: number;
  steps: number;
}
export interface Dimension {
  name: string;
  kind: "number" | "log" | "category";
  categories: string[];
}

export function pointsOf(trials: readonly Trial[]): Point[] {
  return trials.flatMap((trial) => {
    const metric = toNumber(trial.searcherMetricValue ?? undefined);
    if (metric === undefined || !Number.isFinite(metric)) return [];
    return [
      {
        trial: trial.id,
        state: trial.state,
        values: flatten(trial.hparams),
        metric,
        steps: trial.totalBatchesProcessed,
      },
    ];
  });
}

/** Names of the searcher's metrics; more than one in a search with several objectives. */
export function objectivesOf(config: Record<string, unknown>): string[] {
  const { metric } = (config["searcher"] ?? {}) as { metric?: unknown };
  return Array.isArray(metric) ? metric.map(String) : typeof metric === "string" ? [metric] : [];
}

export interface Place {
  trial: number;
  x: number;
  y: number;
  isBest: boolean;
}

/** Where trials stand in two metrics, by their latest validation: that is what the server compares, too. */
export function placesOf(trials: readonly Trial[], across: string, up: string, best: ReadonlySet<number>): Place[] {
  return trials.flatMap((trial) => {
    const metrics = trial.latestValidation?.metrics.avgMetrics;
    const [x, y] = [toNumber(metrics?.[across] ?? undefined), toNumber(metrics?.[up] ?? undefined)];
    if (x === undefined || y === undefined || !Number.isFinite(x) || !Number.isFinite(y)) return [];
    return [{ trial: trial.id, x, y, isBest: best.has(trial.id) }];
  });
}

/** Dimensions that vary; `log` where the search itself was logarithmic. */
export function dimensionsOf(points: readonly Point[], experiment: Experiment): Dimension[] {
  const names = [...new Set(points.flatMap((point) => Object.keys(point.values)))].sort();
  const space = (experiment.config["hyperparameters"] ?? {}) as Record<string, unknown>;
  const [logs, categories] = [namesOfType(space, "log"), namesOfType(space, "categorical")];
  return names.flatMap((name): Dimension[] => {
    const values = points.map((point) => point.values[name]);
    const texts = [...new Set(values.map(text))];
    if (texts.length < 2) return [];
    const numeric = values.every((value) => typeof value === "number" && Number.isFinite(value));
    if (!numeric || categories.has(name)) return [{ name, kind: "category", categories: sorted(texts, numeric) }];
    const isLog = logs.has(name) && values.every((value) => (value as number) > 0);
    return [{ name, kind: isLog ? "log" : "number", categories: [] }];
  });
}

const sorted = (texts: string[], numeric: boolean): string[] =>
  texts.sort(numeric ? (a, b) => Number(a) - Number(b) : undefined);

function namesOfType(node: Record<string, unknown>, type: string, prefix = ""): Set<string> {
  const found = new Set<string>();
  for (const [key, value] of Object.entries(node)) {
    if (!value || typeof value !== "object" || Array.isArray(value)) continue;
    const name = prefix ? `${prefix}.${key}` : key;
    const spec = value as Record<string, unknown>;
    if (spec["type"] === type) found.add(name);
    else if (!("type" in spec)) for (const inner of namesOfType(spec, type, name)) found.add(inner);
  }
  return found;
}

export const text = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? "–"));

/** Coordinates for a chart axis: categories by their place. */
export function coordinate(point: Point, dimension: Dimension): number {
  const value = point.values[dimension.name];
  return dimension.kind === "category" ? dimension.categories.indexOf(text(value)) : (value as number);
}

/** Mean metric in each cell of a grid over two dimensions. */
export function heatCells(
  points: readonly Point[],
  x: Dimension,
  y: Dimension,
  bins = binsFor(points.length),
): { xs: string[]; ys: string[]; cells: [number, number, number, number][] } {
  const [binX, xs] = binner(points, x, bins);
  const [binY, ys] = binner(points, y, bins);
  const sums = new Map<string, { x: number; y: number; total: number; count: number }>();
  for (const point of points) {
    const [i, j] = [binX(point), binY(point)];
    const cell = sums.get(`${i}/${j}`) ?? { x: i, y: j, total: 0, count: 0 };
    cell.total += point.metric;
    cell.count += 1;
    sums.set(`${i}/${j}`, cell);
  }
  return { xs, ys, cells: [...sums.values()].map((cell) => [cell.x, cell.y, cell.total / cell.count, cell.count]) };
}

/** Few trials in many cells would be a picture of gaps. */
const binsFor = (points: number): number => Math.max(3, Math.min(8, Math.round(Math.sqrt(points))));

function binner(points: readonly Point[], dimension: Dimension, bins: number): [(point: Point) => number, string[]] {
  if (dimension.kind === "category") return [(point) => coordinate(point, dimension), dimension.categories];
  const scale = dimension.kind === "log" ? Math.log10 : (value: number): number => value;
  const back = dimension.kind === "log" ? (value: number): number => 10 ** value : (value: number): number => value;
  const all = points.map((point) => scale(coordinate(point, dimension)));
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const distinct = [...new Set(points.map((point) => coordinate(point, dimension)))].sort((a, b) => a - b);
  if (distinct.length <= bins)
    return [
      (point) => distinct.indexOf(coordinate(point, dimension)),
      distinct.map((value) => String(Number(value.toPrecision(3)))),
    ];
  const width = (high - low) / bins || 1;
  const labels = Array.from({ length: bins }, (_, i) => String(Number(back(low + (i + 0.5) * width).toPrecision(2))));
  return [(point) => Math.min(bins - 1, Math.floor((scale(coordinate(point, dimension)) - low) / width)), labels];
}
