/** Metric series of trials, kept fresh: one trial fetches only its new tail, an experiment fetches thinned lines. */
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
const LIVE_MS = 300;
/** Summaries name training and validation as Determined's clients read them; other groups keep their own name. */
const GROUPS: Record<string, string> = { avg_metrics: "training", validation_metrics: "validation" };

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
    queryFn: ({ signal }) => fetchTail(trialId, metrics, client.getQueryData<Series[]>(queryKey), signal),
    structuralSharing: false,
  });
  useNotices(live ? [`trial/${trialId}`] : [], () => void client.invalidateQueries({ queryKey }), LIVE_MS);
  return { series: query.data ?? NO_SERIES, isPending: query.isPending && metrics.length > 0, error: query.error };
}

const NO_SERIES: Series[] = [];

async function fetchTail(
  trialId: number,
  metrics: readonly MetricId[],
  known: Series[] | undefined,
  signal: AbortSignal,
): Promise<Series[]> {
  const byKey = new Map((known ?? []).map((series) => [keyOf(series), series]));
  const grown = (known ?? []).some((series) => series.steps.length > TRIAL_POINTS * 1.5);
  const answers = await Promise.all(
    groupsOf(metrics).map(([group, names]) => {
      const since = grown ? undefined : tailStart(known, group, names);
      return api
        .get("/api/v1/trials/{trial_id}/series", {
          path: { trial_id: trialId },
          query: { group: [group], name: names, maxPoints: TRIAL_POINTS, since },
          signal,
        })
        .then((answer) =>
          answer.series
            .map(normalise)
            .map((series) => (since === undefined ? series : mergeSeries(byKey.get(keyOf(series)), series))),
        );
    }),
  );
  const fresh = new Map(answers.flat().map((series) => [keyOf(series), series]));
  for (const [key, series] of byKey) if (!fresh.has(key) && !grown) fresh.set(key, series);
  return [...fresh.values()];
}

function groupsOf(metrics: readonly MetricId[]): [string, string[]][] {
  const groups = new Map<string, string[]>();
  for (const { group, name } of metrics) groups.set(group, [...(groups.get(group) ?? []), name]);
  return [...groups];
}

/** Where all of a group's series are known to; undefined as long as one of them is new. */
function tailStart(known: Series[] | undefined, group: string, names: readonly string[]): number | undefined {
  const ends = names.map((name) =>
    known?.find((series) => series.group === group && series.name === name)?.steps.at(-1),
  );
  return ends.every((end) => end !== undefined) ? Math.min(...(ends as number[])) : undefined;
}

/** Certain trials, or all of them (then how many there are decides how finely each is drawn). */
export type Which = { trialIds: readonly number[]; count?: never } | { trialIds?: never; count: number };

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
  const asked = which.trialIds ? { trialIds: [...which.trialIds] } : { maxTrials: MOST_TRIALS };
  const query = useQuery({
    queryKey,
    enabled: metrics.length > 0 && trials > 0,
    placeholderData: keepPreviousData,
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      const answers = await Promise.all(
        groupsOf(metrics).map(([group, names]) =>
          api.get("/api/v1/experiments/{experiment_id}/series", {
            path: { experiment_id: experimentId },
            query: { group: [group], name: names, maxPoints, ...asked },
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
    trials > 50 ? 2000 : trials > 4 ? 700 : LIVE_MS,
  );
  return { series: query.data ?? NO_SERIES, isPending: query.isPending && metrics.length > 0, error: query.error };
}
