/** Shapes of the answers that pages read. Int64 travels as text; absent messages as null. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface Pagination {
  offset: number;
  limit: number;
  startIndex: number;
  endIndex: number;
  total: number;
}
export interface User {
  id: number;
  username: string;
  displayName?: string | null;
  admin: boolean;
  active: boolean;
  lastAuthAt?: string | null;
  modifiedAt?: string | null;
}
export interface Experiment {
  id: number;
  name: string;
  description?: string;
  notes?: string;
  labels?: string[];
  state: string;
  archived: boolean;
  config: JsonObject;
  originalConfig: string;
  jobId: string;
  numTrials: number;
  projectId: number;
  projectName?: string;
  workspaceId?: number;
  workspaceName?: string;
  searcherType: string;
  searcherMetric?: string;
  startTime: string;
  endTime?: string | null;
  username: string;
  displayName?: string | null;
  userId?: number;
  progress?: number | null;
  resourcePool?: string;
  bestTrialId?: number | null;
  bestTrialSearcherMetric?: number | null;
  checkpointCount?: number;
  checkpointSize?: string;
  forkedFrom?: number | null;
  hyperparameters?: JsonObject | null;
  modelDefinitionSize?: number;
  parentArchived?: boolean;
  unmanaged?: boolean;
  smallerIsBetter?: boolean;
  warnings?: string[];
  trialIds?: number[];
}
export interface Workload {
  metrics: { avgMetrics: Record<string, Json> };
  totalBatches: number;
  endTime?: string | null;
}
export interface Trial {
  id: number;
  experimentId: number;
  hparams: JsonObject;
  state: string;
  restarts: number;
  startTime: string;
  endTime?: string | null;
  totalBatchesProcessed: number;
  bestValidation?: Workload | null;
  latestValidation?: Workload | null;
  searcherMetricValue?: number | string | null;
  summaryMetrics?: Record<string, Record<string, MetricSummary>> | null;
  checkpointCount?: number;
  totalCheckpointSize?: string;
  wallClockTime?: number;
  warmStartCheckpointUuid?: string | null;
  runnerState?: string;
  taskId?: string;
  taskIds?: string[];
  logPolicyMatched?: string | null;
  metadata?: JsonObject | null;
  exitReason?: string;
}
export interface MetricSummary {
  count?: number;
  min?: number | string | null;
  max?: number | string | null;
  mean?: number | string | null;
  last?: Json;
  sum?: number | string | null;
  type?: string;
}
/** Points of one metric of one trial, thinned by the server. Columns have equal length. */
export interface Series {
  trialId: number;
  group: string;
  name: string;
  steps: number[];
  values: number[];
  times: number[];
  totalPoints: number;
}
export interface Checkpoint {
  uuid: string;
  state: string;
  reportTime?: string | null;
  resources: Record<string, string>;
  metadata: JsonObject;
  training: {
    experimentId?: number | null;
    trialId?: number | null;
    searcherMetric?: number | null;
    trainingMetrics?: { avgMetrics?: Record<string, Json> } | null;
    validationMetrics?: { avgMetrics?: Record<string, Json> } | null;
  };
}
export interface LogEntry {
  id: string;
  level: string;
  message: string;
  log?: string;
  timestamp: string;
  rankId?: number | null;
  source?: string | null;
  stdtype?: string | null;
  allocationId?: string | null;
}
export interface FileNode {
  name: string;
  path: string;
  isDir: boolean;
  contentLength?: number;
  modifiedTime?: string;
  files?: FileNode[] | null;
}
export interface Workspace {
  id: number;
  name: string;
  username: string;
  archived: boolean;
  immutable: boolean;
  pinned: boolean;
  numExperiments: number;
  numProjects: number;
}
export interface Project {
  id: number;
  name: string;
  description?: string;
  workspaceId: number;
  workspaceName?: string;
  username: string;
  archived: boolean;
  immutable: boolean;
  numExperiments: number;
  numActiveExperiments: number;
  lastExperimentStartedAt?: string | null;
  notes?: { name: string; contents: string }[];
}
export interface Slot {
  id: string;
  enabled?: boolean;
  draining?: boolean;
  device?: { id?: number; type?: string; brand?: string; uuid?: string } | null;
  container?: { id: string; state: string; parent?: string } | null;
}
export interface Agent {
  id: string;
  enabled?: boolean;
  draining?: boolean;
  addresses?: string[];
  resourcePools?: string[];
  registeredTime?: string | null;
  slots?: Record<string, Slot>;
  version?: string;
}
export interface ResourcePool {
  name: string;
  description: string;
  slotsAvailable: number;
  slotsUsed: number;
  slotType: string;
  numAgents: number;
  schedulerType: string;
  defaultComputePool: boolean;
  stats?: { queuedCount?: number; scheduledCount?: number } | null;
}
export interface Job {
  jobId: string;
  entityId: string;
  name: string;
  type: string;
  username: string;
  submissionTime: string;
  requestedSlots: number;
  allocatedSlots: number;
  resourcePool: string;
  priority?: number | null;
  weight?: number | null;
  progress?: number | null;
  isPreemptible: boolean;
  summary?: { state: string; jobsAhead: number } | null;
}
export interface AllocationSummary {
  allocationId: string;
  taskId: string;
  name: string;
  registeredTime?: string;
  resourcePool?: string;
  slotsNeeded?: number;
  resources?: { agentDevices?: Record<string, unknown> }[];
}
export interface Allocation {
  allocationId: string;
  taskId: string;
  state: string;
  slots: number;
  startTime?: string | null;
  endTime?: string | null;
  exitReason?: string | null;
  statusCode?: number | null;
  isReady?: boolean;
}
export interface Task {
  taskId: string;
  taskType: string;
  startTime: string;
  endTime?: string | null;
  allocations: Allocation[];
}
export interface InteractiveTask {
  id: string;
  description: string;
  state: string;
  startTime: string;
  username: string;
  resourcePool: string;
  serviceAddress?: string | null;
  exitStatus?: string | null;
  workspaceId: number;
}
export interface TokenInfo {
  id: number;
  userId: number;
  description?: string;
  expiry?: string | null;
  createdAt?: string | null;
  revoked?: boolean;
}
export interface MasterInfo {
  clusterId: string;
  clusterName: string;
  version: string;
}
