/** Metric series of trials, kept fresh: one trial fetches only its new tail, an experiment fetches thinned lines. */
import { useEffect, useRef } from "react";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { mergeSeries, normalise, type MetricId } from "../charts/series";
import { useNotices } from "./events";
import { api } from "./client";
import { flatten } from "../text/format";
import type { MetricSummary, Series, Trial } from "./types";

const TRIAL_POINTS = 2000;
const BUDGET = 60_000;
/** As many as the server draws at once. */
const MOST_TRIALS = 1000;
/** New points are seen within a second, and ten reports a second are one request. */
const LIVE_MS = 800;
/** Summaries name training and validation as Determined's clients read them; other groups keep their own name. */
const GROUPS: Record<string, string> = { avg_metrics: "training", validation_metrics: "validation" };

/** What the profiler samples of the machine; it has a tab of its own, with the throughput. */
const MACHINE = new Set(["cpu", "gpu", "memory", "disk", "network", "throughput"]);
/** Reported by the training itself, in whichever group the user chose. */
export const isLearning = ({ group }: MetricId): boolean => !MACHINE.has(group);

const keyOf = (series: Series): string => `${series.trialId}/${series.group}/${series.name}`;

/** Every numeric metric that these trials have reported. */
export function metricIds(trials: readonly Trial[]): MetricId[] {
  const found = new Map<string, MetricId>();
  for (const trial of trials) {
    const summaries = trial.summaryMetrics as Record<string, Record<string, MetricSummary> | null>;
    for (const [key, metrics] of Object.entries(summaries)) {
      const group = GROUPS[key] ?? key;
      for (const [name, summary] of Object.entries(metrics ?? {})) {
        for (const path of numbersOf(name, summary)) found.set(`${group}/${path}`, { group, name: path });
      }
    }
  }
  return [...found.values()].sort((a, b) => a.group.localeCompare(b.group) || a.name.localeCompare(b.name));
}

/** A metric that is a number, or the paths to the numbers inside one that is nested, as a profiler's samples are. */
function numbersOf(name: string, summary: MetricSummary | undefined): string[] {
  if ((summary?.type ?? "number") === "number") return [name];
  const last = summary?.last;
  if (summary?.type !== "object" || !last || typeof last !== "object") return [];
  return Object.entries(flatten({ [name]: last as Record<string, unknown> }))
    .filter(([, value]) => typeof value === "number")
    .map(([path]) => path);
}

export function useTrialSeries(
  trialId: number,
  metrics: readonly MetricId[],
  live: boolean,
): { series: Series[]; isPending: boolean; error: unknown } {
  const client = useQueryClient();
  const queryKey = ["series", trialId, metrics.map((metric) => `${metric.group}/${metric.name}`).join()];
  const query = useQuery({
    queryKey,
    enabled: metrics.length > 0,
    queryFn: ({ signal }): Promise<Series[]> => {
      const asked = { trialIds: [trialId], growing: [trialId], metrics, maxPoints: TRIAL_POINTS };
      return fetchTail(asked, client.getQueryData<Series[]>(queryKey), signal);
    },
    structuralSharing: false,
  });
  useNotices(live ? [`trial/${trialId}`] : [], () => void client.invalidateQueries({ queryKey }), LIVE_MS);
  return { series: query.data ?? NO_SERIES, isPending: query.isPending && metrics.length > 0, error: query.error };
}

const NO_SERIES: Series[] = [];

/** Only what came after what is known, once something is; everything again where that has become too much to draw. */
async function fetchTail(
  { trialIds, growing, metrics, maxPoints }: { trialIds: readonly number[]; growing: readonly number[] } & Asked,
  known: Series[] | undefined,
  signal: AbortSignal,
): Promise<Series[]> {
  const isFull = (known ?? []).some((series) => series.steps.length > maxPoints * 1.5);
  const byKey = new Map((isFull ? [] : (known ?? [])).map((series) => [keyOf(series), series]));
  const answers = await Promise.all(
    groupsOf(metrics).map(async ([group, name]) => {
      const since = tailStart(byKey, growing, group, name);
      const asked = since === undefined ? trialIds : growing;
      if (!asked.length) return [];
      const query = { trialIds: [...asked], group: [group], name, maxPoints, since };
      const answer = await api.get("/api/v1/trials/series", { query, signal });
      return answer.series
        .map(normalise)
        .map((series) => (since === undefined ? series : mergeSeries(byKey.get(keyOf(series)), series)));
    }),
  );
  for (const series of answers.flat()) byKey.set(keyOf(series), series);
  return [...byKey.values()];
}

interface Asked {
  metrics: readonly MetricId[];
  maxPoints: number;
}

function groupsOf(metrics: readonly MetricId[]): [string, string[]][] {
  const groups = new Map<string, string[]>();
  for (const { group, name } of metrics) groups.set(group, [...(groups.get(group) ?? []), name]);
  return [...groups];
}

/** Where the series of a group that still grow are known to; undefined as long as nothing, or one of the trials, is new. */
function tailStart(
  known: ReadonlyMap<string, Series>,
  growing: readonly number[],
  group: string,
  names: readonly string[],
): number | undefined {
  if (!known.size) return undefined;
  let least = Infinity;
  for (const trialId of growing) {
    // A metric that a trial has not reported yet begins after those that it has.
    const ends = names.flatMap((name) => known.get(`${trialId}/${group}/${name}`)?.steps.at(-1) ?? []);
    if (!ends.length) return undefined;
    least = Math.min(least, ...ends);
  }
  return least;
}

/** Certain trials, or all of them (then how many there are decides how finely each is drawn). */
export type Which =
  | { trialIds: readonly number[]; growing: readonly number[]; count?: never }
  | { trialIds?: never; growing?: never; count: number };

/** Lines of all trials of an experiment. More trials, fewer points each: the picture has only so many pixels. */
export function useExperimentSeries(
  experimentId: number,
  metrics: readonly MetricId[],
  which: Which,
  live: boolean,
): { series: Series[]; isPending: boolean; error: unknown } {
  const client = useQueryClient();
  const trials = which.trialIds ? which.trialIds.length : which.count;
  const maxPoints = Math.max(40, Math.min(1000, Math.floor(BUDGET / Math.max(trials, 1))));
  const queryKey = [
    "series",
    "experiment",
    experimentId,
    metrics.map((metric) => `${metric.group}/${metric.name}`).join(),
    which.trialIds?.join() ?? maxPoints,
  ];
  const grew = useRef<readonly number[]>([]);
  const growing = which.growing?.join();
  // Who has just ended is asked once more: its last points came with its end.
  useEffect(() => {
    if (growing !== undefined) void client.invalidateQueries({ queryKey: ["series", "experiment", experimentId] });
  }, [client, experimentId, growing]);
  const query = useQuery({
    queryKey,
    enabled: metrics.length > 0 && trials > 0,
    placeholderData: keepPreviousData,
    structuralSharing: false,
    queryFn: async ({ signal }): Promise<Series[]> => {
      if (which.trialIds) {
        const asked = which.trialIds.filter((id) => which.growing.includes(id) || grew.current.includes(id));
        grew.current = which.growing;
        const known = client.getQueryData<Series[]>(queryKey);
        return fetchTail({ trialIds: which.trialIds, growing: asked, metrics, maxPoints }, known, signal);
      }
      const answers = await Promise.all(
        groupsOf(metrics).map(([group, names]) =>
          api.get("/api/v1/experiments/{experiment_id}/series", {
            path: { experiment_id: experimentId },
            query: { group: [group], name: names, maxPoints, maxTrials: MOST_TRIALS },
            signal,
          }),
        ),
      );
      return answers.flatMap((answer) => answer.series.map(normalise));
    },
  });
  useNotices(
    live ? [`experiment/${experimentId}`] : [],
    () => void client.invalidateQueries({ queryKey }),
    trials > 50 ? 3000 : LIVE_MS,
  );
  return { series: query.data ?? NO_SERIES, isPending: query.isPending && metrics.length > 0, error: query.error };
}
