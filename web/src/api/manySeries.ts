import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { normalise, type MetricId } from "../charts/series";
import { useNotices } from "./events";
import { api } from "./client";
import type { Series } from "./types";

const [MOST_POINTS, BUDGET] = [1000, 60_000];
const NONE: Series[] = [];

/** Series of trials that may belong to different experiments, by one request. */
export function useManySeries(trialIds: readonly number[], metrics: readonly MetricId[], live: boolean): Series[] {
  const client = useQueryClient();
  const group = [...new Set(metrics.map((metric) => metric.group))];
  const name = [...new Set(metrics.map((metric) => metric.name))];
  const queryKey = ["series", "compare", trialIds, group, name];
  const maxPoints = Math.max(40, Math.min(MOST_POINTS, Math.floor(BUDGET / Math.max(1, trialIds.length))));
  const query = useQuery({
    queryKey,
    enabled: trialIds.length > 0 && metrics.length > 0,
    placeholderData: keepPreviousData,
    structuralSharing: false,
    queryFn: ({ signal }): Promise<Series[]> =>
      api
        .get("/api/v1/trials/series", { query: { trialIds: [...trialIds], group, name, maxPoints }, signal })
        .then((answer) => answer.series.map(normalise)),
  });
  useNotices(live ? trialIds.map((id) => `trial/${id}`) : [], () => void client.invalidateQueries({ queryKey }), 2000);
  return query.data ?? NONE;
}
