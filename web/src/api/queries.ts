/** What pages ask the server, one function a question. Keys start with the topic that makes them stale. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { get, post } from "./http";
import type {
  Agent,
  AllocationSummary,
  Checkpoint,
  Dataset,
  Experiment,
  FileNode,
  InteractiveTask,
  Job,
  LabelledImage,
  Model,
  ModelVersion,
  Pagination,
  ParetoTrial,
  Project,
  ResourcePool,
  ServerInfo,
  Task,
  TokenInfo,
  Trial,
  User,
  Workspace,
} from "./types";

const V1 = "/api/v1";

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => get<{ user: User }>(`${V1}/me`, {}, signal).then((answer) => answer.user),
  staleTime: 60_000,
});
export const infoQuery = queryOptions({
  queryKey: ["info"],
  queryFn: ({ signal }) => get<ServerInfo>("/info", {}, signal),
  staleTime: Infinity,
});
export const usersQuery = queryOptions({
  queryKey: ["users"],
  queryFn: ({ signal }) => get<{ users: User[] }>(`${V1}/users`, {}, signal).then((answer) => answer.users),
});
export const tokensQuery = queryOptions({
  queryKey: ["tokens"],
  queryFn: ({ signal }) =>
    get<{ tokenInfo: TokenInfo[] }>(`${V1}/tokens`, {}, signal).then((answer) => answer.tokenInfo ?? []),
});

export interface ExperimentFilter {
  name?: string;
  states?: readonly string[];
  users?: readonly string[];
  labels?: readonly string[];
  archived?: boolean;
  projectId?: number;
  sortBy?: string;
  descending?: boolean;
  offset?: number;
  limit?: number;
}
export interface ExperimentPage {
  experiments: Experiment[];
  pagination: Pagination;
}

export const experimentsQuery = (filter: ExperimentFilter) =>
  queryOptions({
    queryKey: ["experiments", filter],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const { descending, sortBy, ...rest } = filter;
      const order = descending ? "ORDER_BY_DESC" : "ORDER_BY_ASC";
      return get<ExperimentPage>(
        `${V1}/experiments`,
        { ...rest, sortBy: sortBy ?? "SORT_BY_ID", orderBy: order },
        signal,
      );
    },
  });

export const experimentQuery = (id: number) =>
  queryOptions({
    queryKey: ["experiment", id],
    queryFn: ({ signal }) =>
      get<{ experiment: Experiment }>(`${V1}/experiments/${id}`, {}, signal).then((answer) => answer.experiment),
  });

export interface TrialPage {
  trials: Trial[];
  pagination: Pagination;
}

export const paretoQuery = (experimentId: number) =>
  queryOptions({
    queryKey: ["experiment", experimentId, "pareto"],
    queryFn: ({ signal }) =>
      get<{ trials: ParetoTrial[] }>(`${V1}/experiments/${experimentId}/pareto`, {}, signal).then(
        (answer) => answer.trials,
      ),
  });
export const trialsQuery = (
  experimentId: number,
  query: { sortBy?: string; descending?: boolean; offset?: number; limit?: number } = {},
) =>
  queryOptions({
    queryKey: ["experiment", experimentId, "trials", query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const order = query.descending === undefined ? undefined : query.descending ? "ORDER_BY_DESC" : "ORDER_BY_ASC";
      return get<TrialPage>(
        `${V1}/experiments/${experimentId}/trials`,
        { sortBy: query.sortBy ?? "SORT_BY_ID", orderBy: order, offset: query.offset ?? 0, limit: query.limit ?? -1 },
        signal,
      );
    },
  });

/** Several trials by one request. */
export const trialsByIdQuery = (ids: readonly number[]) =>
  queryOptions({
    queryKey: ["trials", ids],
    enabled: ids.length > 0,
    queryFn: ({ signal }) => get<{ trials: Trial[] }>(`${V1}/trials`, { ids }, signal).then((answer) => answer.trials),
  });
export const trialQuery = (id: number) =>
  queryOptions({
    queryKey: ["trial", id],
    queryFn: ({ signal }) => get<{ trial: Trial }>(`${V1}/trials/${id}`, {}, signal).then((answer) => answer.trial),
  });

export const checkpointsQuery = (of: "experiments" | "trials", id: number) =>
  queryOptions({
    queryKey: [of === "trials" ? "trial" : "experiment", id, "checkpoints"],
    queryFn: ({ signal }) =>
      get<{ checkpoints: Checkpoint[]; pagination: Pagination }>(
        `${V1}/${of}/${id}/checkpoints`,
        { sortByAttr: "SORT_BY_SEARCHER_METRIC", limit: 500 },
        signal,
      ),
  });

export const fileTreeQuery = (id: number) =>
  queryOptions({
    queryKey: ["files", id],
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      get<{ files: FileNode[] }>(`${V1}/experiments/${id}/file_tree`, {}, signal).then((answer) => answer.files ?? []),
  });

export const fileQuery = (id: number, path: string) =>
  queryOptions({
    queryKey: ["files", id, path],
    staleTime: Infinity,
    enabled: !!path,
    queryFn: () =>
      post<{ file: string }>(`${V1}/experiments/${id}/file`, { experimentId: id, path }).then((answer) =>
        decode(answer.file),
      ),
  });

function decode(base64: string): string {
  const bytes = Uint8Array.from(atob(base64 ?? ""), (char) => char.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

export const workspacesQuery = queryOptions({
  queryKey: ["workspaces"],
  queryFn: ({ signal }) =>
    get<{ workspaces: Workspace[] }>(`${V1}/workspaces`, { limit: -1 }, signal).then((answer) => answer.workspaces),
});
export const projectsQuery = (workspaceId: number) =>
  queryOptions({
    queryKey: ["projects", workspaceId],
    queryFn: ({ signal }) =>
      get<{ projects: Project[] }>(`${V1}/workspaces/${workspaceId}/projects`, { limit: -1 }, signal).then(
        (answer) => answer.projects,
      ),
  });
export const projectQuery = (id: number) =>
  queryOptions({
    queryKey: ["project", id],
    queryFn: ({ signal }) =>
      get<{ project: Project }>(`${V1}/projects/${id}`, {}, signal).then((answer) => answer.project),
  });

export const datasetsQuery = (name = "") =>
  queryOptions({
    queryKey: ["datasets", "list", name],
    queryFn: ({ signal }) =>
      get<{ datasets: Dataset[] }>(`${V1}/datasets`, { name, limit: -1 }, signal).then((answer) => answer.datasets),
  });
export const datasetVersionsQuery = (name: string) =>
  queryOptions({
    queryKey: ["datasets", name],
    queryFn: ({ signal }) =>
      get<{ versions: Dataset[] }>(`${V1}/datasets/${encodeURIComponent(name)}`, {}, signal).then(
        (answer) => answer.versions,
      ),
  });
export const datasetPath = (dataset: Dataset): string =>
  `${V1}/datasets/${encodeURIComponent(dataset.name)}/${dataset.version}`;
export interface ImageFilter {
  annotation: number;
  category: number | null;
}
export const datasetImagesQuery = (dataset: Dataset, filter: ImageFilter, offset: number, limit: number) =>
  queryOptions({
    queryKey: ["datasets", dataset.name, dataset.version, "images", filter, offset, limit],
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      get<{ images: LabelledImage[]; pagination: Pagination }>(
        `${datasetPath(dataset)}/images`,
        { offset, limit, annotationIndex: filter.annotation, categoryId: filter.category },
        signal,
      ),
  });
export const experimentDatasetsQuery = (id: number) =>
  queryOptions({
    queryKey: ["experiment", id, "datasets"],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      get<{ datasets: Dataset[] }>(`${V1}/experiments/${id}/datasets`, {}, signal).then((answer) => answer.datasets),
  });

export const modelsQuery = (filter: { name?: string; archived?: boolean } = {}) =>
  queryOptions({
    queryKey: ["models", filter],
    queryFn: ({ signal }) =>
      get<{ models: Model[] }>(
        `${V1}/models`,
        { ...filter, limit: -1, sortBy: "SORT_BY_LAST_UPDATED_TIME", orderBy: "ORDER_BY_DESC" },
        signal,
      ).then((answer) => answer.models),
  });
export const modelPath = (name: string): string => `${V1}/models/${encodeURIComponent(name)}`;
export const modelVersionsQuery = (name: string) =>
  queryOptions({
    queryKey: ["models", name, "versions"],
    queryFn: ({ signal }) =>
      get<{ model: Model; modelVersions: ModelVersion[] }>(
        `${modelPath(name)}/versions`,
        { limit: -1, sortBy: "SORT_BY_VERSION", orderBy: "ORDER_BY_DESC" },
        signal,
      ),
  });

export const agentsQuery = queryOptions({
  queryKey: ["cluster", "agents"],
  queryFn: ({ signal }) => get<{ agents: Agent[] }>(`${V1}/agents`, {}, signal).then((answer) => answer.agents),
});
export const poolsQuery = queryOptions({
  queryKey: ["cluster", "pools"],
  queryFn: ({ signal }) =>
    get<{ resourcePools: ResourcePool[] }>(`${V1}/resource-pools`, {}, signal).then((answer) => answer.resourcePools),
});
export const allocationsQuery = queryOptions({
  queryKey: ["cluster", "tasks"],
  queryFn: ({ signal }) =>
    get<{ allocationIdToSummary?: Record<string, AllocationSummary> }>(`${V1}/tasks`, {}, signal).then((answer) =>
      Object.values(answer.allocationIdToSummary ?? {}),
    ),
});
export const jobsQuery = (resourcePool: string) =>
  queryOptions({
    queryKey: ["queue", resourcePool],
    enabled: !!resourcePool,
    queryFn: ({ signal }) =>
      get<{ jobs: ({ full?: Job; limited?: Job } & Partial<Job>)[] }>(
        `${V1}/job-queues-v2`,
        { resourcePool, limit: -1 },
        signal,
      ).then((answer) => answer.jobs.map((job) => (job.full ?? job.limited ?? job) as Job)),
  });
export const taskQuery = (taskId: string) =>
  queryOptions({
    queryKey: ["task", taskId],
    enabled: !!taskId,
    queryFn: ({ signal }) =>
      get<{ task: Task }>(`${V1}/tasks/${encodeURIComponent(taskId)}`, {}, signal).then((answer) => answer.task),
  });

export const TASK_KINDS = ["notebooks", "tensorboards", "shells", "commands"] as const;
export type TaskKind = (typeof TASK_KINDS)[number];
export const interactiveQuery = (kind: TaskKind) =>
  queryOptions({
    queryKey: ["tasks", kind],
    queryFn: ({ signal }) =>
      get<Record<string, InteractiveTask[]>>(`${V1}/${kind}`, {}, signal).then((answer) => answer[kind] ?? []),
  });
