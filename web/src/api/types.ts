/** Short names for the server's messages. The shapes come from its OpenAPI document; only refinements stand here. */
import type { components } from "./schema";

type Schemas = components["schemas"];
export type JsonObject = Record<string, unknown>;

export type Pagination = Schemas["Pagination"];
export type User = Schemas["User"];
export type Experiment = Schemas["Experiment"];
export type ParetoTrial = Schemas["ParetoTrial"];
export type Workload = Schemas["MetricsWorkload"];
export type Checkpoint = Schemas["Checkpoint"];
export type FileNode = Schemas["FileNode"];
export type Workspace = Schemas["Workspace"];
export type Project = Schemas["Project"];
export type Slot = Schemas["Slot"];
export type Agent = Schemas["Agent"];
export type ResourcePool = Schemas["ResourcePool"];
export type Dataset = Schemas["Dataset"];
export type LabelledImage = Schemas["LabelledImage"];
export type Model = Schemas["Model"];
export type ModelVersion = Schemas["ModelVersion"];
export type Deployment = Schemas["Deployment"];
export type Revision = Schemas["Revision"];
export type TrafficPoint = Schemas["TrafficPoint"];
export type Job = Schemas["Job"];
export type AllocationSummary = Schemas["AllocationSummary"];
export type Allocation = Schemas["Allocation"];
export type Task = Schemas["Task"];
export type TokenInfo = Schemas["TokenInfo"];
export type ServerInfo = Schemas["Info"];
export type WireSeries = Schemas["MetricSeries"];

/** Running statistics of one metric, as `summaryMetrics` holds them by group and name. */
export interface MetricSummary {
  count?: number;
  min?: number | string | null;
  max?: number | string | null;
  mean?: number | string | null;
  last?: unknown;
  type?: string;
}
export type Trial = Schemas["Trial"];

/** Points of one metric of one trial, thinned by the server, as numbers throughout. Columns have equal length. */
export type Series = Omit<WireSeries, "values"> & { values: number[] };

export type LogLevel = Schemas["LogLevel"];
/** A log line of a trial or of another task. */
export type LogEntry = Pick<Schemas["TrialLogsResponse"], "id" | "level" | "message" | "timestamp"> &
  Partial<Pick<Schemas["TrialLogsResponse"], "log" | "rankId" | "source" | "stdtype">>;
