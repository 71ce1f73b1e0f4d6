import { useQueries, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { normalise, type MetricId } from "../charts/series";
import { useNotices } from "./events";
import { api } from "./client";
import type { Series } from "./types";

const POINTS = 1000;

/** Series of trials that may belong to different experiments. */
export function useManySeries(trialIds: readonly number[], metrics: readonly MetricId[], live: boolean): Series[] {
  const client = useQueryClient();
  const groups = [...new Set(metrics.map((metric) => metric.group))];
  const series = useQueries({
    combine: seriesOf,
    queries: trialIds.flatMap((id) =>
      groups.map((group) => ({
        queryKey: ["series", id, "compare", group, metrics.length],
        structuralSharing: false,
        queryFn: ({ signal }: { signal: AbortSignal }) => {
          const name = metrics.filter((metric) => metric.group === group).map((metric) => metric.name);
          return api
            .get("/api/v1/trials/{trial_id}/series", {
              path: { trial_id: id },
              query: { group: [group], name, maxPoints: POINTS },
              signal,
            })
            .then((answer) => answer.series.map(normalise));
        },
      })),
    ),
  });
  useNotices(
    live ? trialIds.map((id) => `trial/${id}`) : [],
    () => void client.invalidateQueries({ queryKey: ["series"] }),
    700,
  );
  return series;
}

const seriesOf = (answers: readonly UseQueryResult<Series[]>[]): Series[] =>
  answers.flatMap((answer) => answer.data ?? []);
