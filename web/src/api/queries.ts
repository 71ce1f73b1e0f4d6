/** What pages ask the server, one function a question. Keys start with the topic that makes them stale. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { addressOf, api, type Address, type Answer, type QueryOf } from "./client";
import type { Dataset, Job, Trial } from "./types";

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => api.get("/api/v1/me", { signal }).then((answer) => answer.user),
  staleTime: 60_000,
});
export const infoQuery = queryOptions({
  queryKey: ["info"],
  queryFn: ({ signal }) => api.get("/info", { signal }),
  staleTime: Infinity,
});
export const usersQuery = queryOptions({
  queryKey: ["users"],
  queryFn: ({ signal }) => api.get("/api/v1/users", { signal }).then((answer) => answer.users),
});
export const tokensQuery = queryOptions({
  queryKey: ["tokens"],
  queryFn: ({ signal }) => api.get("/api/v1/tokens", { signal }).then((answer) => answer.tokenInfo),
});

type ExperimentsAsked = QueryOf<"/api/v1/experiments">;
export type ExperimentSort = NonNullable<ExperimentsAsked["sortBy"]>;
export type ExperimentState = NonNullable<ExperimentsAsked["states"]>[number];
export type ExperimentFilter = Omit<ExperimentsAsked, "orderBy"> & { descending?: boolean };

export type ExperimentPage = Answer<"get", "/api/v1/experiments">;

export const experimentsQuery = ({ descending, ...filter }: ExperimentFilter) =>
  queryOptions({
    queryKey: ["experiments", { ...filter, descending }],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query: ExperimentsAsked = { sortBy: "SORT_BY_ID", ...filter, orderBy: orderOf(descending ?? false) };
      return api.get("/api/v1/experiments", { query, signal });
    },
  });

const orderOf = (descending: boolean): "ORDER_BY_DESC" | "ORDER_BY_ASC" =>
  descending ? "ORDER_BY_DESC" : "ORDER_BY_ASC";

export const experimentQuery = (id: number) =>
  queryOptions({
    queryKey: ["experiment", id],
    queryFn: ({ signal }) =>
      api
        .get("/api/v1/experiments/{experiment_id}", { path: { experiment_id: id }, signal })
        .then((answer) => answer.experiment),
  });

export const paretoQuery = (experimentId: number) =>
  queryOptions({
    queryKey: ["experiment", experimentId, "pareto"],
    queryFn: ({ signal }) =>
      api
        .get("/api/v1/experiments/{experiment_id}/pareto", { path: { experiment_id: experimentId }, signal })
        .then((answer) => answer.trials),
  });

type TrialsAsked = QueryOf<"/api/v1/experiments/{experiment_id}/trials">;
export type TrialSort = NonNullable<TrialsAsked["sortBy"]>;
export const trialsQuery = (
  experimentId: number,
  { descending, ...asked }: Omit<TrialsAsked, "orderBy"> & { descending?: boolean } = {},
) =>
  queryOptions({
    queryKey: ["experiment", experimentId, "trials", { ...asked, descending }],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query: TrialsAsked = {
        sortBy: "SORT_BY_ID",
        limit: -1,
        ...asked,
        ...(descending === undefined ? {} : { orderBy: orderOf(descending) }),
      };
      return api.get("/api/v1/experiments/{experiment_id}/trials", {
        path: { experiment_id: experimentId },
        query,
        signal,
      });
    },
  });

/** Several trials by one request. */
export const trialsByIdQuery = (ids: number[]) =>
  queryOptions({
    queryKey: ["trials", ids],
    placeholderData: keepPreviousData,
    enabled: ids.length > 0,
    queryFn: ({ signal }): Promise<Trial[]> =>
      api.get("/api/v1/trials", { query: { ids }, signal }).then((answer) => answer.trials),
  });
export const trialQuery = (id: number) =>
  queryOptions({
    queryKey: ["trial", id],
    queryFn: ({ signal }): Promise<Trial> =>
      api.get("/api/v1/trials/{trial_id}", { path: { trial_id: id }, signal }).then((answer) => answer.trial),
  });

const MOST_CHECKPOINTS = 500;
export const checkpointsQuery = (of: "experiments" | "trials", id: number) =>
  queryOptions({
    queryKey: [of === "trials" ? "trial" : "experiment", id, "checkpoints"],
    queryFn: ({ signal }) => {
      const query = { sortByAttr: "SORT_BY_SEARCHER_METRIC", limit: MOST_CHECKPOINTS } as const;
      return of === "trials"
        ? api.get("/api/v1/trials/{trial_id}/checkpoints", { path: { trial_id: id }, query, signal })
        : api.get("/api/v1/experiments/{experiment_id}/checkpoints", { path: { experiment_id: id }, query, signal });
    },
  });
export const checkpointQuery = (uuid: string) =>
  queryOptions({
    queryKey: ["checkpoint", uuid],
    queryFn: ({ signal }) =>
      api
        .get("/api/v1/checkpoints/{checkpoint_uuid}", { path: { checkpoint_uuid: uuid }, signal })
        .then((answer) => answer.checkpoint),
  });
export const checkpointFile = (uuid: string, path: string): Address =>
  addressOf("/api/v1/checkpoints/{checkpoint_uuid}/file", { path: { checkpoint_uuid: uuid }, query: { path } });
export const checkpointArchive = (uuid: string): Address =>
  addressOf("/checkpoints/{checkpoint_uuid}", { path: { checkpoint_uuid: uuid } });

export const fileTreeQuery = (id: number) =>
  queryOptions({
    queryKey: ["files", id],
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      api
        .get("/api/v1/experiments/{experiment_id}/file_tree", { path: { experiment_id: id }, signal })
        .then((answer) => answer.files),
  });

export const fileQuery = (id: number, path: string) =>
  queryOptions({
    queryKey: ["files", id, path],
    staleTime: Infinity,
    enabled: !!path,
    queryFn: () => fileBytes(id, path).then((bytes) => new TextDecoder().decode(bytes)),
  });

/** A file of an experiment's code. */
export async function fileBytes(experimentId: number, path: string): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await api.post("/api/v1/experiments/{experiment_id}/file", {
    path: { experiment_id: experimentId },
    body: { path },
  });
  return Uint8Array.from(atob(answer.file), (char) => char.charCodeAt(0));
}

export const workspacesQuery = queryOptions({
  queryKey: ["workspaces"],
  queryFn: ({ signal }) =>
    api.get("/api/v1/workspaces", { query: { limit: -1 }, signal }).then((answer) => answer.workspaces),
});
export const projectsQuery = (workspaceId: number) =>
  queryOptions({
    queryKey: ["projects", workspaceId],
    queryFn: ({ signal }) =>
      api
        .get("/api/v1/workspaces/{workspace_id}/projects", {
          path: { workspace_id: workspaceId },
          query: { limit: -1 },
          signal,
        })
        .then((answer) => answer.projects),
  });
export const projectQuery = (id: number) =>
  queryOptions({
    queryKey: ["project", id],
    queryFn: ({ signal }) =>
      api.get("/api/v1/projects/{project_id}", { path: { project_id: id }, signal }).then((answer) => answer.project),
  });

export const datasetsQuery = (name = "") =>
  queryOptions({
    queryKey: ["datasets", "list", name],
    queryFn: ({ signal }) =>
      api.get("/api/v1/datasets", { query: { name, limit: -1 }, signal }).then((answer) => answer.datasets),
  });
export const datasetVersionsQuery = (name: string) =>
  queryOptions({
    queryKey: ["datasets", name],
    queryFn: ({ signal }) =>
      api
        .get("/api/v1/datasets/{dataset_name}", { path: { dataset_name: name }, signal })
        .then((answer) => answer.versions),
  });
export interface ImageFilter {
  annotation: number;
  category: number | null;
}
export const datasetImagesQuery = (dataset: Dataset, filter: ImageFilter, offset: number, limit: number) =>
  queryOptions({
    queryKey: ["datasets", dataset.name, dataset.version, "images", filter, offset, limit],
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      api.get("/api/v1/datasets/{dataset_name}/{version}/images", {
        path: { dataset_name: dataset.name, version: String(dataset.version) },
        query: { offset, limit, annotationIndex: filter.annotation, categoryId: filter.category },
        signal,
      }),
  });
export const imageContent = (dataset: Dataset, path: string, maxSize?: number): Address =>
  addressOf("/api/v1/datasets/{dataset_name}/{version}/images/content", {
    path: { dataset_name: dataset.name, version: String(dataset.version) },
    query: { path, maxSize },
  });
export const experimentDatasetsQuery = (id: number) =>
  queryOptions({
    queryKey: ["experiment", id, "datasets"],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      api
        .get("/api/v1/experiments/{experiment_id}/datasets", { path: { experiment_id: id }, signal })
        .then((answer) => answer.datasets),
  });

export const modelsQuery = (filter: { name?: string; archived?: boolean } = {}) =>
  queryOptions({
    queryKey: ["models", filter],
    queryFn: ({ signal }) =>
      api
        .get("/api/v1/models", {
          query: { ...filter, limit: -1, sortBy: "SORT_BY_LAST_UPDATED_TIME", orderBy: "ORDER_BY_DESC" },
          signal,
        })
        .then((answer) => answer.models),
  });
export const modelVersionsQuery = (name: string) =>
  queryOptions({
    queryKey: ["models", name, "versions"],
    queryFn: ({ signal }) =>
      api.get("/api/v1/models/{model_name}/versions", {
        path: { model_name: name },
        query: { limit: -1, sortBy: "SORT_BY_VERSION", orderBy: "ORDER_BY_DESC" },
        signal,
      }),
  });

export type LineageKind = QueryOf<"/api/v1/lineage">["kind"];
export const lineageQuery = (kind: LineageKind, id: string) =>
  queryOptions({
    queryKey: ["lineage", kind, id],
    queryFn: ({ signal }) => api.get("/api/v1/lineage", { query: { kind, id }, signal }),
  });

export const agentsQuery = queryOptions({
  queryKey: ["cluster", "agents"],
  queryFn: ({ signal }) => api.get("/api/v1/agents", { signal }).then((answer) => answer.agents),
});
export const poolsQuery = queryOptions({
  queryKey: ["cluster", "pools"],
  queryFn: ({ signal }) => api.get("/api/v1/resource-pools", { signal }).then((answer) => answer.resourcePools),
});
export const allocationsQuery = queryOptions({
  queryKey: ["cluster", "tasks"],
  queryFn: ({ signal }) =>
    api.get("/api/v1/tasks", { signal }).then((answer) => Object.values(answer.allocationIdToSummary)),
});
export const usageQuery = (startDate: string, endDate: string) =>
  queryOptions({
    queryKey: ["usage", startDate, endDate],
    retry: false,
    queryFn: ({ signal }) =>
      api
        .get("/api/v1/resources/allocation/aggregated", {
          query: { startDate, endDate, period: "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_DAILY" },
          signal,
        })
        .then((answer) => answer.resourceEntries),
  });
export const jobsQuery = (resourcePool: string) =>
  queryOptions({
    queryKey: ["queue", resourcePool],
    enabled: !!resourcePool,
    queryFn: ({ signal }): Promise<Job[]> =>
      api
        .get("/api/v1/job-queues-v2", { query: { resourcePool, limit: -1 }, signal })
        .then((answer) => answer.jobs.flatMap((job) => job.full ?? [])),
  });
export const taskQuery = (taskId: string) =>
  queryOptions({
    queryKey: ["task", taskId],
    enabled: !!taskId,
    queryFn: ({ signal }) =>
      api.get("/api/v1/tasks/{task_id}", { path: { task_id: taskId }, signal }).then((answer) => answer.task),
  });
