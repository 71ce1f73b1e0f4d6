/** Counts of requests as lines to draw and as figures to read. Pure: `now` comes in. */
import type { Traffic } from "../../api/deployments";
import type { Deployment, TrafficPoint } from "../../api/types";

export type Measure = "rate" | "errors" | "p50Ms" | "p95Ms" | "p99Ms";
export interface Curve {
  revision: number;
  x: number[];
  y: number[];
}
export interface Figures {
  rate: number;
  errorShare: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
  p99Ms: number | null;
}
export type Role = "stable" | "canary" | "shadow" | "";

/** What is counted for the last step is not complete while the step lasts. */
const UNFINISHED_STEPS = 1;
const BRIDGED_STEPS = 10;

export const roleOf = (deployment: Deployment, revision: number): Role => {
  if (revision === deployment.canaryRevision) return "canary";
  if (revision === deployment.shadowRevision) return "shadow";
  return revision === deployment.stableRevision ? "stable" : "";
};

export interface Window {
  stepS: number;
  seconds: number;
  now: number;
  /** Requests are counted over so many steps at once; few requests a second would only look like noise. */
  steps?: number;
}

/** One curve a revision over [now - seconds, now]. */
export function curvesOf(points: readonly TrafficPoint[], measure: Measure, window: Window): Curve[] {
  const { stepS, seconds, now } = window;
  const revisions = [...new Set(points.map((point) => point.revision))].sort((a, b) => a - b);
  const last = Math.floor(now / stepS) - UNFINISHED_STEPS;
  return revisions.map((revision) => {
    const own = points
      .map((point) => ({ point, step: Math.round(Date.parse(point.time) / 1000 / stepS) }))
      .filter(({ point, step }) => point.revision === revision && step <= last && step * stepS >= now - seconds);
    return measure === "rate" ? rateCurve(revision, own, window) : joinedCurve(revision, own, measure, stepS);
  });
}

interface Counted {
  point: TrafficPoint;
  step: number;
}

/** Steps without requests are 0. */
function rateCurve(revision: number, own: readonly Counted[], { stepS, seconds, now, steps = 1 }: Window): Curve {
  const binS = stepS * steps;
  const counts = new Map<number, number>();
  for (const { point, step } of own) {
    const bin = Math.floor(step / steps);
    counts.set(bin, (counts.get(bin) ?? 0) + point.requests);
  }
  const x: number[] = [];
  const y: number[] = [];
  const last = Math.floor((Math.floor(now / stepS) - UNFINISHED_STEPS + 1) / steps) - 1;
  for (let bin = Math.ceil((now - seconds) / binS); bin <= last; bin++) {
    x.push(bin * binS);
    y.push((counts.get(bin) ?? 0) / binS);
  }
  return { revision, x, y };
}

/** Steps without requests have no value: short breaks are bridged, long ones are gaps. */
function joinedCurve(
  revision: number,
  own: readonly Counted[],
  measure: Exclude<Measure, "rate">,
  stepS: number,
): Curve {
  const x: number[] = [];
  const y: number[] = [];
  let before = own[0]?.step ?? 0;
  for (const { point, step } of own) {
    if (!point.requests) continue;
    if (step - before > BRIDGED_STEPS) {
      x.push((before + 1) * stepS);
      y.push(NaN);
    }
    x.push(step * stepS);
    y.push(measure === "errors" ? (100 * point.errors) / point.requests : (point[measure] ?? NaN));
    before = step;
  }
  return { revision, x, y };
}

/** As the server counted them over a while: percentiles of its steps could not be put together here. */
export function figuresOf({ recent, recentS }: Pick<Traffic, "recent" | "recentS">, revision: number): Figures {
  const found = recent.find((point) => point.revision === revision);
  const requests = found?.requests ?? 0;
  return {
    rate: requests / recentS,
    errorShare: requests ? found!.errors / requests : null,
    p50Ms: found?.p50Ms ?? null,
    p95Ms: found?.p95Ms ?? null,
    p99Ms: found?.p99Ms ?? null,
  };
}

/** `model:name/3` reads as name/3; a long checkpoint as its first eight. */
export function sourceLabel(source: string): string {
  const [kind, rest = ""] = source.split(/:(.*)/s);
  if (kind === "model") return rest;
  if (kind === "checkpoint") return `checkpoint ${rest.slice(0, 8)}`;
  return source;
}
