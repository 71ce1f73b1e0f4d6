/** What pages ask about deployments. Counts of requests come every second while somebody looks. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { get } from "./http";
import type { Deployment, TrafficPoint } from "./types";

const PATH = "/api/v1/deployments";
const COUNTED_MS = 1000;

export const deploymentPath = (name: string): string => `${PATH}/${encodeURIComponent(name)}`;
export const predictPath = (name: string): string => `/serving/${name}/v1/models/${name}:predict`;

export const deploymentsQuery = queryOptions({
  queryKey: ["deployments", "list"],
  queryFn: ({ signal }) => get<{ deployments: Deployment[] }>(PATH, {}, signal).then((answer) => answer.deployments),
});
export const deploymentQuery = (name: string) =>
  queryOptions({
    queryKey: ["deployments", name],
    queryFn: ({ signal }) =>
      get<{ deployment: Deployment }>(deploymentPath(name), {}, signal).then((answer) => answer.deployment),
  });

export interface Traffic {
  points: TrafficPoint[];
  stepS: number;
}
export const trafficQuery = (name: string, seconds: number) =>
  queryOptions({
    queryKey: ["traffic", name, seconds],
    refetchInterval: COUNTED_MS,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => get<Traffic>(`${deploymentPath(name)}/stats`, { seconds }, signal),
  });
