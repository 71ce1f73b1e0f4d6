/** What pages ask about deployments. Counts of requests come every second while somebody looks. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, type Answer } from "./client";
import { refusal, send } from "./http";

const COUNTED_MS = 1000;

export const deploymentsQuery = queryOptions({
  queryKey: ["deployments", "list"],
  queryFn: ({ signal }) => api.get("/api/v1/deployments", { signal }).then((answer) => answer.deployments),
});
export const deploymentQuery = (name: string) =>
  queryOptions({
    queryKey: ["deployments", name],
    queryFn: ({ signal }) =>
      api
        .get("/api/v1/deployments/{deployment_name}", { path: { deployment_name: name }, signal })
        .then((answer) => answer.deployment),
  });

export type Traffic = Answer<"get", "/api/v1/deployments/{deployment_name}/stats">;
export const trafficQuery = (name: string, seconds: number) =>
  queryOptions({
    queryKey: ["traffic", name, seconds],
    refetchInterval: COUNTED_MS,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      api.get("/api/v1/deployments/{deployment_name}/stats", {
        path: { deployment_name: name },
        query: { seconds },
        signal,
      }),
  });

export interface Prediction {
  predictions: unknown;
  ms: number;
  revision: string;
}

/** Asks the deployment itself, by the protocol of KServe: these addresses are the router's, not the API's. */
export async function predict(name: string, body: unknown): Promise<Prediction> {
  const began = performance.now();
  const response = await send("POST", `/serving/${name}/v1/models/${name}:predict`, { body });
  if (!response.ok) throw await refusal(response);
  const content = (await response.json()) as { predictions?: unknown };
  return {
    predictions: content.predictions ?? content,
    ms: performance.now() - began,
    revision: response.headers.get("x-resolute-revision") ?? "?",
  };
}
