import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { normalise, type MetricId } from "../charts/series";
import { useNotices } from "./events";
import { get } from "./http";
import type { Series, WireSeries } from "./types";

const POINTS = 1000;

/** Series of trials that may belong to different experiments. */
export function useManySeries(trialIds: readonly number[], metrics: readonly MetricId[], live: boolean): Series[] {
  const client = useQueryClient();
  const groups = [...new Set(metrics.map((metric) => metric.group))];
  const queries = useQueries({
    queries: trialIds.flatMap((id) =>
      groups.map((group) => ({
        queryKey: ["series", id, "compare", group, metrics.length],
        structuralSharing: false,
        queryFn: ({ signal }: { signal: AbortSignal }) => {
          const name = metrics.filter((metric) => metric.group === group).map((metric) => metric.name);
          return get<{ series: WireSeries[] }>(
            `/api/v1/trials/${id}/series`,
            { group, name, maxPoints: POINTS },
            signal,
          ).then((answer) => answer.series.map(normalise));
        },
      })),
    ),
  });
  useNotices(
    live ? trialIds.map((id) => `trial/${id}`) : [],
    () => void client.invalidateQueries({ queryKey: ["series"] }),
    700,
  );
  return useMemo(
    () => queries.flatMap((query) => query.data ?? []),
    [queries.map((query) => query.dataUpdatedAt).join()],
  );
}
