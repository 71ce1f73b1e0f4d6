/** The points between those that are drawn: a zoomed chart fetches what it shows. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { normalise, spliceSeries, type MetricId, type Stretch } from "../charts/series";
import { api } from "./client";
import type { Series } from "./types";

const POINTS = 2000;
const SETTLED_MS = 60_000;

/** `series` as they are, or with the stretch that is looked at as fine as the screen can show it. */
export function useDetail(
  series: readonly Series[],
  metrics: readonly MetricId[],
  stretch: Stretch | null,
): readonly Series[] {
  const names = new Set(metrics.map((metric) => `${metric.group}/${metric.name}`));
  const thinned = stretch
    ? series.filter((each) => names.has(`${each.group}/${each.name}`) && each.steps.length < each.totalPoints)
    : [];
  const trialIds = [...new Set(thinned.map((each) => each.trialId))];
  const groups = [...new Set(thinned.map((each) => each.group))];
  const name = [...new Set(thinned.map((each) => each.name))];
  const detail = useQuery({
    queryKey: ["series", "detail", trialIds, groups, name, stretch],
    enabled: thinned.length > 0,
    staleTime: SETTLED_MS,
    placeholderData: keepPreviousData,
    structuralSharing: false,
    queryFn: ({ signal }): Promise<Series[]> =>
      api
        .get("/api/v1/trials/series", {
          query: {
            trialIds,
            group: groups,
            name,
            since: stretch!.from - 1,
            until: stretch!.to,
            maxPoints: Math.max(100, Math.floor(POINTS / Math.sqrt(thinned.length))),
          },
          signal,
        })
        .then((answer) => answer.series.map(normalise)),
  }).data;
  if (!thinned.length || !detail) return series;
  return series.map((each) => {
    const found = detail.find(
      (other) => other.trialId === each.trialId && other.group === each.group && other.name === each.name,
    );
    return found ? spliceSeries(each, found) : each;
  });
}
