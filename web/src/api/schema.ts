// Made from the server's OpenAPI document by `npm run types`; do not edit.
export interface paths {
    "/api/v1/agents": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    excludeContainers?: boolean;
                    excludeSlots?: boolean;
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetAgentsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/agents/{agent_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    agent_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["AgentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/agents/{agent_id}/disable": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    agent_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DisableRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["AgentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/agents/{agent_id}/enable": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    agent_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["AgentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/agents/{agent_id}/slots": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    agent_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetSlotsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/agents/{agent_id}/slots/{slot_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    agent_id: string;
                    slot_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["SlotResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/agents/{agent_id}/slots/{slot_id}/disable": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    agent_id: string;
                    slot_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DisableRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["SlotResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/agents/{agent_id}/slots/{slot_id}/enable": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    agent_id: string;
                    slot_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["SlotResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    allocation_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetAllocationResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/acceleratorData": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    allocation_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostAllocationAcceleratorDataRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/all_gather": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    allocation_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AllocationAllGatherRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["AllocationAllGatherResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/context": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    allocation_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/gzip": unknown;
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/model": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    allocation_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/x-tar": unknown;
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/notify_container_running": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    allocation_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["AllocationAllGatherResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/proxy_address": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    allocation_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostAllocationProxyAddressRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/ready": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    allocation_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/resources/{resources_id}/daemon": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    allocation_id: string;
                    resources_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/resources/{resources_id}/logs": {
        parameters: {
        };
        post: {
            parameters: {
                query: {
                    /** @description Number of this batch, from 1. */
                    sequence: number;
                };
                path: {
                    allocation_id: string;
                    resources_id: string;
                };
            };
            requestBody?: {
                content: {
                    "application/octet-stream": unknown;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/resources/{resources_id}/phase": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    allocation_id: string;
                    resources_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ReportPhaseRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/resources/{resources_id}/rendezvous": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    allocation_id: string;
                    resources_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["AllocationRendezvousInfoResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
                path: {
                    allocation_id: string;
                    resources_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["JoinRendezvousRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["JoinRendezvousResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/signals/ack_preemption": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    allocation_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/signals/pending_preemption": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    allocation_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/signals/preemption": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    timeoutSeconds?: number;
                };
                path: {
                    allocation_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["AllocationPreemptionSignalResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/allocations/{allocation_id}/waiting": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    allocation_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/audit": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    action?: components["schemas"]["Action"][];
                    /** @description A user's name, as it was then. */
                    actor?: string;
                    /** @description `next` of the page before. */
                    before?: number | null;
                    /** @description Also what running tasks and the platform itself did. */
                    everybody?: boolean;
                    /** @description Kinds of things, such as experiment or user. */
                    kind?: string[];
                    limit?: number;
                    /** @description From then on; UTC when it names no zone. */
                    since?: string | null;
                    thingId?: string;
                    /** @description Before then. */
                    until?: string | null;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetAuditResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/auth/login": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LoginRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["LoginResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/auth/logout": {
        parameters: {
        };
        post: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/auth/user": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["UserResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/checkpoints": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ReportCheckpointRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
        delete: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DeleteCheckpointsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
        patch: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchCheckpointsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/checkpoints/{checkpoint_uuid}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    checkpoint_uuid: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["CheckpointResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/checkpoints/{checkpoint_uuid}/file": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    /** @description As `resources` of the checkpoint names it. */
                    path: string;
                };
                path: {
                    checkpoint_uuid: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": unknown;
                        "application/octet-stream": unknown;
                    };
                };
            };
        };
    };
    "/api/v1/checkpoints/{checkpoint_uuid}/metadata": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    checkpoint_uuid: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostCheckpointMetadataRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["CheckpointResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/checkpoints/{checkpoint_uuid}/metrics": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description None: every group. */
                    metricGroup?: string | null;
                    trialSourceInfoType?: components["schemas"]["TrialSourceInfoType"] | null;
                };
                path: {
                    checkpoint_uuid: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetMetricsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/checkpoints/rm": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CheckpointsRemoveFilesRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/cleanup_logs": {
        parameters: {
        };
        post: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["CleanupLogsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/commands": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    userIds?: number[];
                    /** @description Only of these users. */
                    users?: string[];
                    workspaceId?: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetCommandsResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LaunchRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["LaunchCommandResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/commands/{task_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetCommandResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/commands/{task_id}/kill": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["KillCommandResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/commands/{task_id}/set_priority": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SetPriorityRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["KillCommandResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/datasets": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    name?: string;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    workspaceId?: number | null;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDatasetsResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostDatasetRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["PostDatasetResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/datasets/{dataset_name}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    dataset_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDatasetVersionsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/datasets/{dataset_name}/{version}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    dataset_name: string;
                    version: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["DatasetResponse"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                query?: {
                    force?: boolean;
                };
                path: {
                    dataset_name: string;
                    version: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
        patch: {
            parameters: {
                path: {
                    dataset_name: string;
                    version: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchDataset"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["DatasetResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/datasets/{dataset_name}/{version}/files": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                };
                path: {
                    dataset_name: string;
                    version: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDatasetFilesResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/datasets/{dataset_name}/{version}/images": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    annotationIndex?: number;
                    categoryId?: number | null;
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                };
                path: {
                    dataset_name: string;
                    version: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDatasetImagesResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/datasets/{dataset_name}/{version}/images/content": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    maxSize?: number | null;
                    path: string;
                };
                path: {
                    dataset_name: string;
                    version: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": unknown;
                        "application/octet-stream": unknown;
                        "image/jpeg": unknown;
                    };
                };
            };
        };
    };
    "/api/v1/deployments": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    modelVersionId?: number | null;
                    workspaceId?: number | null;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDeploymentsResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostDeploymentRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["PostDeploymentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/deployments/{deployment_name}": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description Left out: `default`, else wherever the name is the only one. */
                    namespace?: string | null;
                };
                path: {
                    deployment_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDeploymentResponse"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                query?: {
                    /** @description Left out: `default`, else wherever the name is the only one. */
                    namespace?: string | null;
                };
                path: {
                    deployment_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
        patch: {
            parameters: {
                query?: {
                    /** @description Left out: `default`, else wherever the name is the only one. */
                    namespace?: string | null;
                };
                path: {
                    deployment_name: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchDeploymentRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDeploymentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/deployments/{deployment_name}/canary": {
        parameters: {
        };
        post: {
            parameters: {
                query?: {
                    /** @description Left out: `default`, else wherever the name is the only one. */
                    namespace?: string | null;
                };
                path: {
                    deployment_name: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CanaryRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDeploymentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/deployments/{deployment_name}/pin": {
        parameters: {
        };
        post: {
            parameters: {
                query?: {
                    /** @description Left out: `default`, else wherever the name is the only one. */
                    namespace?: string | null;
                };
                path: {
                    deployment_name: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PinRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDeploymentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/deployments/{deployment_name}/promote": {
        parameters: {
        };
        post: {
            parameters: {
                query?: {
                    /** @description Left out: `default`, else wherever the name is the only one. */
                    namespace?: string | null;
                };
                path: {
                    deployment_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDeploymentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/deployments/{deployment_name}/rollback": {
        parameters: {
        };
        post: {
            parameters: {
                query?: {
                    /** @description Left out: `default`, else wherever the name is the only one. */
                    namespace?: string | null;
                };
                path: {
                    deployment_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDeploymentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/deployments/{deployment_name}/shadow": {
        parameters: {
        };
        post: {
            parameters: {
                query?: {
                    /** @description Left out: `default`, else wherever the name is the only one. */
                    namespace?: string | null;
                };
                path: {
                    deployment_name: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ShadowRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDeploymentResponse"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                query?: {
                    /** @description Left out: `default`, else wherever the name is the only one. */
                    namespace?: string | null;
                };
                path: {
                    deployment_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDeploymentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/deployments/{deployment_name}/stats": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description Left out: `default`, else wherever the name is the only one. */
                    namespace?: string | null;
                    seconds?: number;
                };
                path: {
                    deployment_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDeploymentStatsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/deployments/{deployment_name}/update": {
        parameters: {
        };
        post: {
            parameters: {
                query?: {
                    /** @description Left out: `default`, else wherever the name is the only one. */
                    namespace?: string | null;
                };
                path: {
                    deployment_name: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DeploymentSource"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetDeploymentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/events": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    /** @description Comma-separated: experiments, queue, experiment/1, trial/3, ... */
                    topics: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": unknown;
                        "text/event-stream": string;
                    };
                };
            };
        };
    };
    "/api/v1/experiment/labels": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    projectId?: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["LabelsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    archived?: boolean | null;
                    description?: string;
                    "experimentIdFilter.gt"?: number | null;
                    "experimentIdFilter.gte"?: number | null;
                    "experimentIdFilter.incl"?: number[];
                    "experimentIdFilter.lt"?: number | null;
                    "experimentIdFilter.lte"?: number | null;
                    "experimentIdFilter.notIn"?: number[];
                    labels?: string[];
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    name?: string;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    projectId?: number;
                    sortBy?: components["schemas"]["ExperimentSortBy"];
                    states?: components["schemas"]["ExperimentState"][];
                    userIds?: number[];
                    users?: string[];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetExperimentsResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CreateExperimentRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["CreateExperimentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments-search": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SearchExperimentsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["SearchExperimentsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetExperimentResponse"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
        patch: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchExperiment"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ExperimentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/activate": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/archive": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/cancel": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/checkpoints": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    /** @description Older name of sortByAttr. */
                    sortBy?: components["schemas"]["CheckpointSortBy"] | null;
                    sortByAttr?: components["schemas"]["CheckpointSortBy"] | null;
                    /** @description A validation metric to sort by. */
                    sortByMetric?: string;
                    states?: components["schemas"]["CheckpointState"][];
                };
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetCheckpointsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/datasets": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetExperimentDatasetsResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LinkDatasetRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["DatasetResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/file": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["GetModelDefFileRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetModelDefFileResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/file_tree": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetModelDefTreeResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/kill": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/labels/{label}": {
        parameters: {
        };
        put: {
            parameters: {
                path: {
                    experiment_id: number;
                    label: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["LabelsResponse"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                path: {
                    experiment_id: number;
                    label: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["LabelsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/metrics-stream/batches": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    group?: string;
                    metricName: string;
                    periodSeconds?: number;
                };
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["MetricBatchesResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/metrics-stream/trials-sample": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    group?: string;
                    maxDatapoints?: number;
                    maxTrials?: number;
                    metricName: string;
                    periodSeconds?: number;
                };
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TrialsSampleResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/metrics-stream/trials-snapshot": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    batchesMargin?: number;
                    batchesProcessed: number;
                    group?: string;
                    metricName: string;
                    periodSeconds?: number;
                };
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TrialsSnapshotResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/model_def": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ArchiveResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/move": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["MoveExperimentRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/pareto": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetParetoSetResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/pause": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/retain_logs": {
        parameters: {
        };
        put: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RetainLogsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/searcher/actions": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostSearcherActionsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/searcher/best_searcher_validation_metric": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["BestSearcherValidationMetric"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/searcher/events": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetSearcherEventsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/series": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    group?: string[];
                    maxPoints?: number;
                    maxTrials?: number;
                    /** @description Metric names; none: all. */
                    name?: string[];
                    /** @description Only points after this many steps. */
                    since?: number | null;
                    trialIds?: number[];
                };
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["SeriesResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/tensorboard-files": {
        parameters: {
        };
        delete: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/trials": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    sortBy?: components["schemas"]["TrialSortBy"];
                    states?: components["schemas"]["TrialState"][];
                };
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetExperimentTrialsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/unarchive": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/{experiment_id}/validation-history": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetExperimentValidationHistoryResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/by-external-id/{external_id}": {
        parameters: {
        };
        put: {
            parameters: {
                path: {
                    external_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CreateExperimentRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["PutExperimentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/continue": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ContinueExperimentRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ContinueExperimentResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/dry-run": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CreateExperimentRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["DryRunResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/experiments/metrics-stream/metric-names": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    ids?: number[];
                    periodSeconds?: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ExpMetricNamesResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/generic-tasks": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CreateGenericTaskRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["CreateGenericTaskResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/job-queues": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    /** @description Empty: every pool. */
                    resourcePool?: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetJobsResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["UpdateJobQueueRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/job-queues-v2": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    /** @description Empty: every pool. */
                    resourcePool?: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetJobsV2Response"];
                    };
                };
            };
        };
    };
    "/api/v1/job-queues/stats": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    resourcePools?: string[];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetJobQueueStatsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/lineage": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    id: string;
                    kind: "dataset" | "experiment" | "trial" | "checkpoint" | "model_version" | "deployment";
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["LineageResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/master": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetMasterResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/master/cluster_message": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetClusterMessageResponse"];
                    };
                };
            };
        };
        put: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SetClusterMessageRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
        delete: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/master/config": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetMasterConfigResponse"];
                    };
                };
            };
        };
        patch: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchMasterConfigRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/master/logs": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    follow?: boolean;
                    limit?: number;
                    /** @description First line; negative: that many from the end. */
                    offset?: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["MasterLogsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/master/telemetry": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetTelemetryResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/me": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["UserResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/model/labels": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    workspaceId?: number | null;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetModelLabelsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/models": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    archived?: boolean | null;
                    description?: string;
                    id?: number | null;
                    labels?: string[];
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    name?: string;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    sortBy?: components["schemas"]["ModelSortBy"];
                    userIds?: number[];
                    users?: string[];
                    workspaceIds?: number[];
                    workspaceNames?: string[];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetModelsResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostModelRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ModelResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/models/{model_name}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    model_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ModelResponse"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                path: {
                    model_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
        patch: {
            parameters: {
                path: {
                    model_name: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchModel"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ModelResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/models/{model_name}/archive": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    model_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/models/{model_name}/move": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    model_name: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["MoveModelRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/models/{model_name}/unarchive": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    model_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/models/{model_name}/versions": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    sortBy?: components["schemas"]["ModelVersionSortBy"];
                };
                path: {
                    model_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetModelVersionsResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
                path: {
                    model_name: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostModelVersionRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ModelVersionResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/models/{model_name}/versions/{model_version_num}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    model_name: string;
                    model_version_num: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ModelVersionResponse"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                path: {
                    model_name: string;
                    model_version_num: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
        patch: {
            parameters: {
                path: {
                    model_name: string;
                    model_version_num: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchModelVersion"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ModelVersionResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/models/{model_name}/versions/{model_version_num}/metrics": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    metricGroup?: string | null;
                    trialSourceInfoType?: components["schemas"]["TrialSourceInfoType"] | null;
                };
                path: {
                    model_name: string;
                    model_version_num: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetMetricsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/notebooks": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    userIds?: number[];
                    /** @description Only of these users. */
                    users?: string[];
                    workspaceId?: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetNotebooksResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LaunchRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["LaunchNotebookResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/notebooks/{task_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetNotebookResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/notebooks/{task_id}/kill": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["KillNotebookResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/notebooks/{task_id}/set_priority": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SetPriorityRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["KillNotebookResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/permissions/summary": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetPermissionsSummaryResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/preview-hp-search": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PreviewHPSearchRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["PreviewHPSearchResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ProjectResponse"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Completed"];
                    };
                };
            };
        };
        patch: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchProject"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ProjectResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/archive": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/columns": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetProjectColumnsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/experiments/activate": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["BulkExperimentsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["BulkExperimentsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/experiments/archive": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["BulkExperimentsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["BulkExperimentsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/experiments/cancel": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["BulkExperimentsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["BulkExperimentsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/experiments/delete": {
        parameters: {
        };
        delete: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["BulkExperimentsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["BulkExperimentsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/experiments/kill": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["BulkExperimentsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["BulkExperimentsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/experiments/metric-ranges": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetProjectNumericMetricsRangeResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/experiments/move": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["BulkExperimentsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["BulkExperimentsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/experiments/pause": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["BulkExperimentsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["BulkExperimentsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/experiments/retain_logs": {
        parameters: {
        };
        put: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["BulkRetainLogsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["BulkExperimentsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/experiments/unarchive": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["BulkExperimentsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["BulkExperimentsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/move": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["MoveProjectRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/notes": {
        parameters: {
        };
        put: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PutProjectNotesRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["NotesResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Note-Input"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["NotesResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/{project_id}/unarchive": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    project_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/projects/key/{project_key}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    project_key: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ProjectResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/resource-pools": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetResourcePoolsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/resource-pools/{pool_name}/workspace-bindings": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    pool_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ListWorkspacesBoundToRPResponse"];
                    };
                };
            };
        };
        put: {
            parameters: {
                path: {
                    pool_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
        post: {
            parameters: {
                path: {
                    pool_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                path: {
                    pool_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/resources/allocation/aggregated": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    /** @description The last day or month, included. */
                    endDate: string;
                    period?: components["schemas"]["AggregationPeriod"];
                    /** @description 2026-01-31, or 2026-01 for months. */
                    startDate: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ResourceAllocationAggregatedResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/resources/allocation/raw": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    timestampAfter: string;
                    timestampBefore: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ResourceAllocationRawResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/runs/{run_id}/metadata": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    run_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["RunMetadataResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
                path: {
                    run_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostRunMetadataRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["RunMetadataResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/runs/start": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RunPrepareForReportingRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["RunPrepareForReportingResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/shells": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetShellsResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/task/logs": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostTaskLogsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/tasks": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetTasksResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tasks/{task_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetTaskResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tasks/{task_id}/acceleratorData": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetTaskAcceleratorDataResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tasks/{task_id}/config": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetGenericTaskConfigResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tasks/{task_id}/context_directory": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ArchiveResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tasks/{task_id}/kill": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["KillGenericTaskRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/tasks/{task_id}/logs": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description Only lines after this id. */
                    afterId?: number | null;
                    agentIds?: string[];
                    allocationIds?: string[];
                    /** @description Nothing runs in containers of its own here: matches none. */
                    containerIds?: string[];
                    enableRegex?: boolean;
                    follow?: boolean;
                    levels?: components["schemas"]["LogLevel"][];
                    /** @description At most this many lines; 0: all. */
                    limit?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    rankIds?: number[];
                    searchText?: string;
                    /** @description task: what was printed; platform or master: what we say. */
                    sources?: string[];
                    stdtypes?: string[];
                    timestampAfter?: string | null;
                    timestampBefore?: string | null;
                };
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TaskLogsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tasks/{task_id}/logs/fields": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["LogFieldsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tasks/{task_id}/pause": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/tasks/{task_id}/unpause": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/tasks/count": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetActiveTasksCountResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/template/rename": {
        parameters: {
        };
        patch: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchTemplateNameRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TemplateResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/templates": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    name?: string;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    workspaceIds?: number[];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetTemplatesResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/templates/{template_name}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    template_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TemplateResponse"];
                    };
                };
            };
        };
        put: {
            parameters: {
                path: {
                    template_name: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Template-Input"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TemplateResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
                path: {
                    template_name: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Template-Input"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TemplateResponse"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                path: {
                    template_name: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
        patch: {
            parameters: {
                path: {
                    template_name: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TemplateResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tensorboards": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    userIds?: number[];
                    /** @description Only of these users. */
                    users?: string[];
                    workspaceId?: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetTensorboardsResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LaunchTensorboardRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["LaunchTensorboardResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tensorboards/{task_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetTensorboardResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tensorboards/{task_id}/kill": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["KillTensorboardResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tensorboards/{task_id}/set_priority": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    task_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SetPriorityRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["KillTensorboardResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tokens": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    showInactive?: boolean;
                    /** @description Only these, expired and revoked ones too. */
                    tokenIds?: number[];
                    username?: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetAccessTokensResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostAccessTokenRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["PostAccessTokenResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/tokens/{token_id}": {
        parameters: {
        };
        patch: {
            parameters: {
                path: {
                    token_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchAccessTokenRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["PatchAccessTokenResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trial-source-info": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ReportTrialSourceInfoRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ReportTrialSourceInfoResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    /** @description Those to look at. */
                    ids: number[];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetTrialsResponse"];
                    };
                };
            };
        };
        put: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PutTrialRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TrialResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CreateTrialRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TrialResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TrialResponse"];
                    };
                };
            };
        };
        patch: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchTrialRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TrialResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/checkpoints": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    /** @description Older name of sortByAttr. */
                    sortBy?: components["schemas"]["CheckpointSortBy"] | null;
                    sortByAttr?: components["schemas"]["CheckpointSortBy"] | null;
                    /** @description A validation metric to sort by. */
                    sortByMetric?: string;
                    states?: components["schemas"]["CheckpointState"][];
                };
                path: {
                    trial_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetCheckpointsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/early_exit": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TrialEarlyExit"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/kill": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/logs": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description Only lines after this id. */
                    afterId?: number | null;
                    agentIds?: string[];
                    allocationIds?: string[];
                    /** @description Nothing runs in containers of its own here: matches none. */
                    containerIds?: string[];
                    enableRegex?: boolean;
                    follow?: boolean;
                    levels?: components["schemas"]["LogLevel"][];
                    /** @description At most this many lines; 0: all. */
                    limit?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    rankIds?: number[];
                    searchText?: string;
                    /** @description task: what was printed; platform or master: what we say. */
                    sources?: string[];
                    stdtypes?: string[];
                    timestampAfter?: string | null;
                    timestampBefore?: string | null;
                };
                path: {
                    trial_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TrialLogsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/logs/fields": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["LogFieldsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/metrics": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ReportTrialMetricsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/metrics/batch": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ReportMetricsBatchRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/progress": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ReportTrialProgressRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/remaining_log_retention_days": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["RemainingLogRetentionDays"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/retain_logs": {
        parameters: {
        };
        put: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RetainLogsRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/runner/metadata": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TrialRunnerMetadata"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/searcher/completed_operation": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CompleteValidateAfterOperation"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/searcher/operation": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetCurrentTrialSearcherOperationResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/series": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    group?: string[];
                    maxPoints?: number;
                    /** @description Metric names; none: all. */
                    name?: string[];
                    /** @description Only points after this many steps. */
                    since?: number | null;
                };
                path: {
                    trial_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["SeriesResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/start": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["StartTrialRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["StartTrialResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/training_metrics": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TrialMetrics"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/validation_metrics": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    trial_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TrialMetrics"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/{trial_id}/workloads": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    group?: string;
                    includeBatchMetrics?: boolean;
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    metricType?: components["schemas"]["MetricType"];
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    removeDeletedCheckpoints?: boolean;
                };
                path: {
                    trial_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetTrialWorkloadsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/by-external-id/{external_experiment_id}/{external_trial_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    external_experiment_id: string;
                    external_trial_id: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["TrialResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/metrics/training_metrics": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    trialIds?: number[];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetMetricsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/metrics/trial_metrics": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    group?: string;
                    trialIds?: number[];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetMetricsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/metrics/validation_metrics": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    trialIds?: number[];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetMetricsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/profiler/metrics": {
        parameters: {
        };
        post: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/series": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    group?: string[];
                    maxPoints?: number;
                    /** @description Metric names; none: all. */
                    name?: string[];
                    /** @description Only points after this many steps. */
                    since?: number | null;
                    trialIds: number[];
                    /** @description Only points up to this many steps. */
                    until?: number | null;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["SeriesResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/trials/time-series": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    endBatches?: number;
                    group?: string;
                    maxDatapoints?: number;
                    metricIds?: string[];
                    metricNames?: string[];
                    metricType?: components["schemas"]["MetricType"];
                    startBatches?: number;
                    trialIds?: number[];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["CompareTrialsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/user/projects/activity": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    limit?: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetWorkspaceProjectsResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/users": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    active?: boolean | null;
                    admin?: boolean | null;
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    name?: string;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetUsersResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostUserRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["UserResponse"];
                    };
                };
            };
        };
        patch: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchUsersRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["PatchUsersResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/users/{user_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    user_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["UserResponse"];
                    };
                };
            };
        };
        patch: {
            parameters: {
                path: {
                    user_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchUser"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["UserResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/users/{user_id}/password": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    user_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["UserResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/users/{username}/by-username": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    username: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["UserResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/users/activity": {
        parameters: {
        };
        post: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/users/setting": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetUserSettingResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostUserSettingRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/users/setting/reset": {
        parameters: {
        };
        post: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/webhooks": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetWebhooksResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/webhooks/custom": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostWebhookEventDataRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/workspaces": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    archived?: boolean | null;
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    name?: string;
                    nameCaseSensitive?: string;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    pinned?: boolean | null;
                    sortBy?: components["schemas"]["NameSortBy"];
                    userIds?: number[];
                    users?: string[];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetWorkspacesResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostWorkspaceRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["WorkspaceResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/workspaces/{workspace_id}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    workspace_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["WorkspaceResponse"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                path: {
                    workspace_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Completed"];
                    };
                };
            };
        };
        patch: {
            parameters: {
                path: {
                    workspace_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PatchWorkspace"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["WorkspaceResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/workspaces/{workspace_id}/archive": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    workspace_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/workspaces/{workspace_id}/available-resource-pools": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                };
                path: {
                    workspace_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ListRPsBoundToWorkspaceResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/workspaces/{workspace_id}/pin": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    workspace_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/workspaces/{workspace_id}/projects": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    archived?: boolean | null;
                    /** @description At most this many; 0 and -1: all, -2: none. */
                    limit?: number;
                    name?: string;
                    /** @description Where to begin; negative counts from the end. */
                    offset?: number;
                    orderBy?: components["schemas"]["OrderBy"];
                    sortBy?: string;
                    userIds?: number[];
                    users?: string[];
                };
                path: {
                    workspace_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["GetWorkspaceProjectsResponse"];
                    };
                };
            };
        };
        post: {
            parameters: {
                path: {
                    workspace_id: number;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostProjectRequest"];
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["ProjectResponse"];
                    };
                };
            };
        };
    };
    "/api/v1/workspaces/{workspace_id}/unarchive": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    workspace_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/api/v1/workspaces/{workspace_id}/unpin": {
        parameters: {
        };
        post: {
            parameters: {
                path: {
                    workspace_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
    "/checkpoints/{checkpoint_uuid}": {
        parameters: {
        };
        get: {
            parameters: {
                path: {
                    checkpoint_uuid: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/gzip": unknown;
                        "application/json": unknown;
                        "application/x-tar": unknown;
                        "application/zip": unknown;
                    };
                };
            };
        };
    };
    "/experiments/{experiment_id}/file/download": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    path: string;
                };
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": unknown;
                    };
                };
            };
        };
    };
    "/experiments/{experiment_id}/preview_gc": {
        parameters: {
        };
        get: {
            parameters: {
                query?: {
                    save_experiment_best?: number;
                    save_trial_best?: number;
                    save_trial_latest?: number;
                };
                path: {
                    experiment_id: number;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["PreviewGcResponse"];
                    };
                };
            };
        };
    };
    "/health": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Health"];
                    };
                };
            };
        };
    };
    "/info": {
        parameters: {
        };
        get: {
            parameters: {
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Info"];
                    };
                };
            };
        };
    };
    "/resources/allocation/aggregated": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    end_date: string;
                    period?: components["schemas"]["AggregationPeriod"];
                    start_date: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "text/plain": string;
                    };
                };
            };
        };
    };
    "/resources/allocation/allocations-csv": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    timestamp_after: string;
                    timestamp_before: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "text/plain": string;
                    };
                };
            };
        };
    };
    "/resources/allocation/raw": {
        parameters: {
        };
        get: {
            parameters: {
                query: {
                    timestamp_after: string;
                    timestamp_before: string;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "text/plain": string;
                    };
                };
            };
        };
    };
    "/task-logs": {
        parameters: {
        };
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": unknown;
                };
            };
            responses: {
                /** @description Successful Response */
                200: {
                    content: {
                        "application/json": components["schemas"]["Empty"];
                    };
                };
            };
        };
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        "AcceleratorData-Input": {
            acceleratorType?: string;
            acceleratorUuids?: string[];
            allocationId?: string;
            containerId?: string;
            nodeName?: string;
            resourcePool?: string;
            taskId?: string;
        };
        "AcceleratorData-Output": {
            acceleratorType: string;
            acceleratorUuids: string[];
            allocationId: string;
            containerId: string;
            nodeName: string;
            resourcePool: string;
            taskId: string;
        };
        /** @enum {string} */
        Action: "CREATED" | "MOVED" | "CHANGED" | "DELETED" | "LOGGED_IN" | "LOGGED_OUT" | "LOGIN_FAILED" | "LOG_PATTERN_MATCHED";
        /** @description A port under which a node is reached; 0: none was chosen. */
        Address: {
            containerIp: string;
            containerPort: number;
            hostIp: string;
            hostPort: number;
        };
        Agent: {
            addresses: string[];
            containers: {
                [key: string]: components["schemas"]["Container"];
            };
            draining: boolean;
            enabled: boolean;
            id: string;
            registeredTime: string | null;
            resourcePools: string[];
            slots: {
                [key: string]: components["schemas"]["Slot"];
            };
            slotStats: components["schemas"]["SlotStats"];
            version: string;
        };
        AgentResponse: {
            agent: components["schemas"]["Agent"];
        };
        "AgentUserGroup-Input": {
            agentGid?: number | null;
            agentGroup?: string | null;
            agentUid?: number | null;
            agentUser?: string | null;
        };
        "AgentUserGroup-Output": {
            agentGid: number | null;
            agentGroup: string | null;
            agentUid: number | null;
            agentUser: string | null;
        };
        AggregateQueueStats: {
            periodStart: string;
            seconds: number;
        };
        /** @enum {string} */
        AggregationPeriod: "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_UNSPECIFIED" | "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_DAILY" | "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_MONTHLY";
        Allocation: {
            allocationId: string;
            endTime: string | null;
            exitReason: string | null;
            isReady: boolean;
            nodes: components["schemas"]["AllocationNode"][];
            slots: number;
            startTime: string | null;
            state: components["schemas"]["TaskState"];
            statusCode: number | null;
            taskId: string;
            waitingReason: string;
        };
        AllocationAllGatherRequest: {
            allocationId?: string;
            data?: {
                [key: string]: unknown;
            };
            numPeers?: number;
            requestUuid?: string;
        };
        AllocationAllGatherResponse: {
            data: {
                [key: string]: unknown;
            }[];
        };
        /** @description One node of an allocation, as far as its supervisor or its runner told. Ours: other clients pass it over. */
        AllocationNode: {
            address: string;
            exitCode: number | null;
            nodeId: string;
            phase: components["schemas"]["Phase"];
            phaseSince: string | null;
            rank: number;
            reason: string;
            slotIds: number[];
        };
        AllocationPreemptionSignalResponse: {
            preempt: boolean;
        };
        AllocationRendezvousInfoResponse: {
            rendezvousInfo: components["schemas"]["RendezvousInfo"];
        };
        AllocationSummary: {
            allocationId: string;
            name: string;
            priority: number | null;
            proxyPorts: components["schemas"]["ProxyPortConfig"][];
            registeredTime: string | null;
            resourcePool: string;
            resources: components["schemas"]["ResourcesSummary"][];
            schedulerType: string;
            slotsNeeded: number;
            taskId: string;
            waitingReason: string;
        };
        /** @description A tar.gz, base64. An empty text means that nothing was uploaded. */
        ArchiveResponse: {
            b64Tgz: string;
        };
        AuditEntry: {
            action: components["schemas"]["Action"];
            address: string;
            detail: {
                [key: string]: unknown;
            };
            fromState: string;
            id: number;
            kind: string;
            thingId: string;
            time: string;
            toState: string;
            userAgent: string;
            userId: number | null;
            username: string;
            via: components["schemas"]["Via"];
            workspaceId: number | null;
        };
        /** @description One report of a batch. */
        BatchedReport: {
            group: string;
            metrics: components["schemas"]["Metrics"];
            reportTime?: string | null;
            stepsCompleted?: number;
            trialRunId?: number;
        };
        BestSearcherValidationMetric: {
            metric: number | string | null;
        };
        BulkExperimentFilters: {
            archived?: boolean | null;
            description?: string;
            excludedExperimentIds?: number[];
            labels?: string[];
            name?: string;
            projectId?: number | null;
            states?: components["schemas"]["ExperimentState"][];
            userIds?: number[];
        };
        /** @description Act on these ids, or on all that match `filters`. */
        BulkExperimentsRequest: {
            destinationProjectId?: number | null;
            experimentIds?: number[];
            filters?: components["schemas"]["BulkExperimentFilters"] | null;
            projectId?: number;
        };
        BulkExperimentsResponse: {
            results: components["schemas"]["ExperimentActionResult"][];
        };
        BulkRetainLogsRequest: {
            destinationProjectId?: number | null;
            experimentIds?: number[];
            filters?: components["schemas"]["BulkExperimentFilters"] | null;
            numDays?: number | null;
            projectId?: number;
        };
        /** @description Without a source: the share of the canary that is running changes. */
        CanaryRequest: {
            checkpointUuid?: string | null;
            model?: string | null;
            modelUri?: string | null;
            percent: number;
            serving?: {
                [key: string]: unknown;
            };
        };
        Checkpoint: {
            allocationId: string | null;
            digests: {
                [key: string]: string;
            } | null;
            metadata: {
                [key: string]: unknown;
            };
            reportTime: string | null;
            resources: {
                [key: string]: string;
            };
            state: components["schemas"]["CheckpointState"];
            storageId: number | null;
            taskId: string | null;
            training: components["schemas"]["CheckpointTrainingMetadata"];
            uuid: string;
        };
        CheckpointMetadata: {
            metadata?: {
                [key: string]: unknown;
            };
            uuid?: string;
        };
        CheckpointResponse: {
            checkpoint: components["schemas"]["Checkpoint"];
        };
        /** @enum {string} */
        CheckpointSortBy: "SORT_BY_UNSPECIFIED" | "SORT_BY_UUID" | "SORT_BY_TRIAL_ID" | "SORT_BY_BATCH_NUMBER" | "SORT_BY_END_TIME" | "SORT_BY_STATE" | "SORT_BY_SEARCHER_METRIC";
        CheckpointsRemoveFilesRequest: {
            checkpointGlobs?: string[];
            checkpointUuids?: string[];
        };
        /** @enum {string} */
        CheckpointState: "STATE_UNSPECIFIED" | "STATE_ACTIVE" | "STATE_COMPLETED" | "STATE_ERROR" | "STATE_DELETED" | "STATE_PARTIALLY_DELETED";
        CheckpointTrainingMetadata: {
            experimentConfig: {
                [key: string]: unknown;
            } | null;
            experimentId: number | null;
            hparams: {
                [key: string]: unknown;
            } | null;
            searcherMetric: number | string | null;
            trainingMetrics: components["schemas"]["Metrics-Output"] | null;
            trialId: number | null;
            validationMetrics: components["schemas"]["Metrics-Output"] | null;
        };
        CheckpointWorkload: {
            endTime: string | null;
            metadata: {
                [key: string]: unknown;
            };
            resources: {
                [key: string]: string;
            };
            state: components["schemas"]["CheckpointState"];
            totalBatches: number;
            uuid: string;
        };
        CleanupLogsResponse: {
            removedCount: string;
        };
        ClusterMessage: {
            createdTime: string | null;
            endTime: string | null;
            message: string;
            startTime: string | null;
        };
        /** @enum {string} */
        ColumnLocation: "LOCATION_TYPE_UNSPECIFIED" | "LOCATION_TYPE_EXPERIMENT" | "LOCATION_TYPE_HYPERPARAMETERS" | "LOCATION_TYPE_VALIDATIONS" | "LOCATION_TYPE_TRAINING" | "LOCATION_TYPE_CUSTOM_METRIC";
        /** @enum {string} */
        ColumnType: "COLUMN_TYPE_UNSPECIFIED" | "COLUMN_TYPE_TEXT" | "COLUMN_TYPE_NUMBER" | "COLUMN_TYPE_DATE" | "COLUMN_TYPE_ARRAY";
        ComparableTrial: {
            metrics: components["schemas"]["DownsampledMetrics"][];
            trial: components["schemas"]["Trial"];
        };
        CompareTrialsResponse: {
            trials: components["schemas"]["ComparableTrial"][];
        };
        Completed: {
            completed: boolean;
        };
        CompleteValidateAfterOperation: {
            op?: components["schemas"]["ValidateAfterOperation-Input"];
            searcherMetric?: number | {
                [key: string]: unknown;
            } | null;
        };
        Container: {
            devices: components["schemas"]["Device"][];
            id: string;
            parent: string;
            permissionDenied: boolean;
            state: components["schemas"]["ContainerState"];
        };
        /** @enum {string} */
        ContainerState: "STATE_UNSPECIFIED" | "STATE_ASSIGNED" | "STATE_PULLING" | "STATE_STARTING" | "STATE_RUNNING" | "STATE_TERMINATED";
        ContinueExperimentRequest: {
            id: number;
            overrideConfig?: string;
        };
        ContinueExperimentResponse: {
            experiment: components["schemas"]["Experiment"];
            warnings: components["schemas"]["LaunchWarning"][];
        };
        CreateExperimentRequest: {
            activate?: boolean;
            config?: string;
            modelDefinition?: components["schemas"]["File"][];
            parentId?: number | null;
            projectId?: number | null;
            template?: string | null;
            unmanaged?: boolean;
            validateOnly?: boolean;
        };
        CreateExperimentResponse: {
            config: {
                [key: string]: unknown;
            };
            experiment: components["schemas"]["Experiment"];
            messages: string[];
            warnings: components["schemas"]["LaunchWarning"][];
        };
        CreateGenericTaskRequest: {
            config?: string;
            contextDirectory?: components["schemas"]["File"][];
            forkedFrom?: string;
            inheritContext?: boolean;
            noPause?: boolean;
            parentId?: string;
            projectId?: number;
        };
        CreateGenericTaskResponse: {
            messages: string[];
            taskId: string;
            warnings: components["schemas"]["LaunchWarning"][];
        };
        CreateTrialRequest: {
            experimentId?: number;
            hparams?: {
                [key: string]: unknown;
            };
            unmanaged?: boolean;
        };
        CustomWebhookEventData: {
            description?: string;
            level?: components["schemas"]["LogLevel"];
            title?: string;
        };
        DataPoint: {
            batches: number;
            epoch: number | null;
            time: string;
            values: {
                [key: string]: unknown;
            };
        };
        /** @description One version. `reference` is `name:version`, as configurations name it. */
        Dataset: {
            annotations: string[];
            classes: components["schemas"]["DatasetClass"][];
            contentHash: string;
            createdAt: string;
            description: string;
            fileCount: string;
            id: number;
            images: string[];
            name: string;
            parents: string[];
            reference: string;
            size: string;
            statistics: {
                [key: string]: unknown;
            };
            uri: string;
            userId: number;
            username: string;
            version: number;
            workspaceId: number;
        };
        DatasetClass: {
            id: number;
            name: string;
        };
        DatasetFile: {
            path: string;
            sha256: string;
            size: string;
        };
        DatasetResponse: {
            children: string[];
            dataset: components["schemas"]["Dataset"];
            experimentIds: number[];
        };
        DeleteCheckpointsRequest: {
            checkpointUuids?: string[];
        };
        Deployment: {
            canaryPercent: number;
            canaryRevision: number | null;
            createdAt: string;
            guard: components["schemas"]["Guard"];
            host: string;
            id: number;
            name: string;
            namespace: string;
            previousRevision: number | null;
            public: boolean;
            revisions: components["schemas"]["Revision"][];
            scaling: components["schemas"]["Scaling"];
            shadowPercent: number;
            shadowRevision: number | null;
            stableRevision: number | null;
            state: components["schemas"]["DeploymentState"];
            sticky: string;
            updatedAt: string;
            url: string;
            username: string;
            workspaceId: number;
        };
        /** @description Exactly one of the three; `serving` is merged over the stable revision's. */
        DeploymentSource: {
            checkpointUuid?: string | null;
            model?: string | null;
            modelUri?: string | null;
            serving?: {
                [key: string]: unknown;
            };
        };
        /** @enum {string} */
        DeploymentState: "STATE_STARTING" | "STATE_READY" | "STATE_SCALED_TO_ZERO" | "STATE_DEGRADED" | "STATE_FAILED" | "STATE_DELETING";
        Device: {
            brand: string;
            id: number;
            type: components["schemas"]["DeviceType"];
            uuid: string;
        };
        DeviceStats: {
            disabled: number;
            draining: number;
            states: {
                [key: string]: number;
            };
            total: number;
        };
        /** @enum {string} */
        DeviceType: "TYPE_UNSPECIFIED" | "TYPE_CPU" | "TYPE_CUDA" | "TYPE_ROCM";
        DisableRequest: {
            drain?: boolean;
        };
        DownsampledMetrics: {
            data: components["schemas"]["DataPoint"][];
            group: string;
            type: components["schemas"]["MetricType"];
        };
        /** @description The first trial as the runner would hand it to its engine; secrets read `********`. */
        DryRunResponse: {
            config: {
                [key: string]: unknown;
            };
            request: {
                [key: string]: unknown;
            };
            warnings: string[];
        };
        /** @description `{}`. */
        Empty: Record<string, never>;
        /** @enum {string} */
        ExitedReason: "EXITED_REASON_UNSPECIFIED" | "EXITED_REASON_INVALID_HP" | "EXITED_REASON_INIT_INVALID_HP" | "EXITED_REASON_USER_REQUESTED_STOP";
        Experiment: {
            archived: boolean;
            bestTrialId: number | null;
            bestTrialSearcherMetric: number | string | null;
            checkpointCount: number;
            checkpointSize: string;
            config: {
                [key: string]: unknown;
            };
            description: string;
            displayName: string;
            duration: number | null;
            endTime: string | null;
            externalExperimentId: string | null;
            externalTrialId: string | null;
            forkedFrom: number | null;
            hyperparameters: {
                [key: string]: unknown;
            };
            id: number;
            jobId: string;
            labels: string[];
            modelDefinitionSize: number | null;
            name: string;
            notes: string;
            numTrials: number;
            originalConfig: string;
            pachydermIntegration: {
                [key: string]: unknown;
            } | null;
            parentArchived: boolean;
            progress: number;
            projectId: number;
            projectName: string;
            projectOwnerId: number;
            resourcePool: string;
            searcherMetric: string | null;
            searcherType: string;
            smallerIsBetter: boolean;
            startTime: string;
            state: components["schemas"]["ExperimentState"];
            trialIds: number[];
            unmanaged: boolean;
            userId: number;
            username: string;
            waitingReason: string;
            warnings: string[];
            workspaceId: number;
            workspaceName: string;
        };
        ExperimentActionResult: {
            error: string;
            id: number;
        };
        ExperimentResponse: {
            experiment: components["schemas"]["Experiment"];
        };
        /** @enum {string} */
        ExperimentSortBy: "SORT_BY_UNSPECIFIED" | "SORT_BY_ID" | "SORT_BY_DESCRIPTION" | "SORT_BY_START_TIME" | "SORT_BY_END_TIME" | "SORT_BY_STATE" | "SORT_BY_NUM_TRIALS" | "SORT_BY_PROGRESS" | "SORT_BY_USER" | "SORT_BY_NAME" | "SORT_BY_FORKED_FROM" | "SORT_BY_RESOURCE_POOL" | "SORT_BY_PROJECT_ID" | "SORT_BY_CHECKPOINT_SIZE" | "SORT_BY_CHECKPOINT_COUNT" | "SORT_BY_SEARCHER_METRIC_VAL";
        /** @enum {string} */
        ExperimentState: "STATE_UNSPECIFIED" | "STATE_ACTIVE" | "STATE_PAUSED" | "STATE_STOPPING_COMPLETED" | "STATE_STOPPING_CANCELED" | "STATE_STOPPING_ERROR" | "STATE_COMPLETED" | "STATE_CANCELED" | "STATE_ERROR" | "STATE_DELETED" | "STATE_DELETING" | "STATE_DELETE_FAILED" | "STATE_STOPPING_KILLED" | "STATE_QUEUED" | "STATE_PULLING" | "STATE_STARTING" | "STATE_RUNNING";
        ExpMetricNamesResponse: {
            metricNames: components["schemas"]["MetricIdentifier"][];
            searcherMetrics: string[];
            trainingMetrics: string[];
            validationMetrics: string[];
        };
        /** @enum {string} */
        FailureType: "FAILURE_TYPE_UNSPECIFIED" | "FAILURE_TYPE_RESOURCES_FAILED" | "FAILURE_TYPE_TASK_ERROR";
        FieldMask: {
            paths?: string[];
        };
        /** @description One entry of an uploaded directory. `type` is the code of the tar type flag; `content` is base64. */
        File: {
            content?: string;
            gid?: number;
            mode?: number;
            mtime?: number;
            path: string;
            type?: number;
            uid?: number;
        };
        FileNode: {
            contentLength: number;
            contentType: string;
            files: components["schemas"]["FileNode"][];
            isDir: boolean;
            modifiedTime: string | null;
            name: string;
            path: string;
        };
        /** @enum {string} */
        FittingPolicy: "FITTING_POLICY_UNSPECIFIED" | "FITTING_POLICY_BEST" | "FITTING_POLICY_WORST" | "FITTING_POLICY_KUBERNETES" | "FITTING_POLICY_SLURM" | "FITTING_POLICY_PBS";
        /** @enum {string} */
        GenericTaskState: "GENERIC_TASK_STATE_UNSPECIFIED" | "GENERIC_TASK_STATE_ACTIVE" | "GENERIC_TASK_STATE_CANCELED" | "GENERIC_TASK_STATE_COMPLETED" | "GENERIC_TASK_STATE_ERROR" | "GENERIC_TASK_STATE_PAUSED" | "GENERIC_TASK_STATE_STOPPING_PAUSED" | "GENERIC_TASK_STATE_STOPPING_CANCELED" | "GENERIC_TASK_STATE_STOPPING_COMPLETED" | "GENERIC_TASK_STATE_STOPPING_ERROR";
        GetAccessTokensResponse: {
            pagination: components["schemas"]["Pagination"];
            tokenInfo: components["schemas"]["TokenInfo"][];
        };
        GetActiveTasksCountResponse: {
            commands: number;
            notebooks: number;
            shells: number;
            tensorboards: number;
        };
        GetAgentsResponse: {
            agents: components["schemas"]["Agent"][];
            pagination: components["schemas"]["Pagination"];
        };
        GetAllocationResponse: {
            allocation: components["schemas"]["Allocation"];
        };
        GetAuditResponse: {
            entries: components["schemas"]["AuditEntry"][];
            next: number | null;
        };
        GetCheckpointsResponse: {
            checkpoints: components["schemas"]["Checkpoint"][];
            pagination: components["schemas"]["Pagination"];
        };
        GetClusterMessageResponse: {
            clusterMessage: components["schemas"]["ClusterMessage"] | null;
        };
        GetCommandResponse: {
            command: components["schemas"]["InteractiveTask"];
            config: {
                [key: string]: unknown;
            };
        };
        GetCommandsResponse: {
            commands: components["schemas"]["InteractiveTask"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** @description How far an older trial runtime should train next. */
        GetCurrentTrialSearcherOperationResponse: {
            completed: boolean;
            op: components["schemas"]["SearcherOperation"] | null;
        };
        GetDatasetFilesResponse: {
            files: components["schemas"]["DatasetFile"][];
            pagination: components["schemas"]["Pagination"];
        };
        GetDatasetImagesResponse: {
            images: components["schemas"]["LabelledImage"][];
            pagination: components["schemas"]["Pagination"];
        };
        GetDatasetsResponse: {
            datasets: components["schemas"]["Dataset"][];
            pagination: components["schemas"]["Pagination"];
        };
        GetDatasetVersionsResponse: {
            name: string;
            versions: components["schemas"]["Dataset"][];
        };
        GetDeploymentResponse: {
            deployment: components["schemas"]["Deployment"];
        };
        GetDeploymentsResponse: {
            deployments: components["schemas"]["Deployment"][];
        };
        GetDeploymentStatsResponse: {
            points: components["schemas"]["TrafficPoint"][];
            recent: components["schemas"]["TrafficPoint"][];
            recentS: number;
            stepS: number;
        };
        GetExperimentDatasetsResponse: {
            datasets: components["schemas"]["Dataset"][];
        };
        GetExperimentResponse: {
            config: {
                [key: string]: unknown;
            };
            experiment: components["schemas"]["Experiment"];
            jobSummary: components["schemas"]["JobSummary"] | null;
        };
        GetExperimentsResponse: {
            experiments: components["schemas"]["Experiment"][];
            pagination: components["schemas"]["Pagination"];
        };
        GetExperimentTrialsResponse: {
            pagination: components["schemas"]["Pagination"];
            trials: components["schemas"]["Trial"][];
        };
        GetExperimentValidationHistoryResponse: {
            validationHistory: components["schemas"]["ValidationHistoryEntry"][];
        };
        GetGenericTaskConfigResponse: {
            config: string;
        };
        GetJobQueueStatsResponse: {
            results: components["schemas"]["RPQueueStat"][];
        };
        GetJobsResponse: {
            jobs: components["schemas"]["Job"][];
            pagination: components["schemas"]["Pagination"];
        };
        GetJobsV2Response: {
            jobs: components["schemas"]["RBACJob"][];
            pagination: components["schemas"]["Pagination"];
        };
        GetMasterConfigResponse: {
            config: {
                [key: string]: unknown;
            };
        };
        GetMasterResponse: {
            branding: string;
            clusterId: string;
            clusterMessage: components["schemas"]["ClusterMessage"] | null;
            clusterName: string;
            externalLoginUri: string;
            externalLogoutUri: string;
            featureSwitches: string[];
            hasCustomLogo: boolean;
            masterId: string;
            product: components["schemas"]["Product"];
            rbacEnabled: boolean;
            ssoProviders: components["schemas"]["SSOProvider"][];
            strictJobQueueControl: boolean;
            telemetryEnabled: boolean;
            userManagementEnabled: boolean;
            version: string;
        };
        GetMetricsResponse: {
            metrics: components["schemas"]["MetricsReport"][];
        };
        GetModelDefFileRequest: {
            experimentId?: number;
            path: string;
        };
        GetModelDefFileResponse: {
            file: string;
        };
        GetModelDefTreeResponse: {
            files: components["schemas"]["FileNode"][];
        };
        GetModelLabelsResponse: {
            labels: string[];
        };
        GetModelsResponse: {
            models: components["schemas"]["Model"][];
            pagination: components["schemas"]["Pagination"];
        };
        GetModelVersionsResponse: {
            model: components["schemas"]["Model"];
            modelVersions: components["schemas"]["ModelVersion"][];
            pagination: components["schemas"]["Pagination"];
        };
        GetNotebookResponse: {
            config: {
                [key: string]: unknown;
            };
            notebook: components["schemas"]["InteractiveTask"];
        };
        GetNotebooksResponse: {
            notebooks: components["schemas"]["InteractiveTask"][];
            pagination: components["schemas"]["Pagination"];
        };
        GetParetoSetResponse: {
            trials: components["schemas"]["ParetoTrial"][];
        };
        /** @description Empty: this master has users and administrators, and no roles beyond them. */
        GetPermissionsSummaryResponse: {
            assignments: components["schemas"]["RoleAssignmentSummary"][];
            roles: components["schemas"]["RoleAssignmentSummary"][];
        };
        GetProjectColumnsResponse: {
            columns: components["schemas"]["ProjectColumn"][];
        };
        GetProjectNumericMetricsRangeResponse: {
            ranges: components["schemas"]["MetricsRange"][];
        };
        GetResourcePoolsResponse: {
            pagination: components["schemas"]["Pagination"];
            resourcePools: components["schemas"]["ResourcePool"][];
        };
        GetSearcherEventsResponse: {
            events: {
                [key: string]: unknown;
            }[];
        };
        GetShellsResponse: {
            pagination: components["schemas"]["Pagination"];
            shells: components["schemas"]["InteractiveTask"][];
        };
        GetSlotsResponse: {
            slots: components["schemas"]["Slot"][];
        };
        GetTaskAcceleratorDataResponse: {
            acceleratorData: components["schemas"]["AcceleratorData-Output"][];
        };
        GetTaskResponse: {
            task: components["schemas"]["Task"];
        };
        GetTasksResponse: {
            allocationIdToSummary: {
                [key: string]: components["schemas"]["AllocationSummary"];
            };
        };
        GetTelemetryResponse: {
            enabled: boolean;
            segmentKey: string;
        };
        GetTemplatesResponse: {
            pagination: components["schemas"]["Pagination"];
            templates: components["schemas"]["Template-Output"][];
        };
        GetTensorboardResponse: {
            config: {
                [key: string]: unknown;
            };
            tensorboard: components["schemas"]["Tensorboard"];
        };
        GetTensorboardsResponse: {
            pagination: components["schemas"]["Pagination"];
            tensorboards: components["schemas"]["Tensorboard"][];
        };
        GetTrialsResponse: {
            trials: components["schemas"]["Trial"][];
        };
        GetTrialWorkloadsResponse: {
            pagination: components["schemas"]["Pagination"];
            workloads: components["schemas"]["WorkloadContainer"][];
        };
        GetUserSettingResponse: {
            settings: components["schemas"]["UserWebSetting-Output"][];
        };
        GetUsersResponse: {
            pagination: components["schemas"]["Pagination"];
            users: components["schemas"]["User"][];
        };
        GetWebhooksResponse: {
            webhooks: components["schemas"]["Webhook"][];
        };
        GetWorkspaceProjectsResponse: {
            pagination: components["schemas"]["Pagination"];
            projects: components["schemas"]["Project"][];
        };
        GetWorkspacesResponse: {
            pagination: components["schemas"]["Pagination"];
            workspaces: components["schemas"]["Workspace"][];
        };
        Guard: {
            enabled: boolean;
            errorRateMargin: number;
            latencyFactor: number;
            minRequests: number;
        };
        Health: {
            database: string;
            message: string;
            status: string;
        };
        HTTPValidationError: {
            detail?: components["schemas"]["ValidationError"][];
        };
        /** @description `GET /info`, the one message that is snake_case on the wire. */
        Info: {
            cluster_id: string;
            cluster_name: string;
            master_id: string;
            resolute_version: string;
            version: string;
        };
        /** @description A command, notebook, TensorBoard or shell. */
        InteractiveTask: {
            description: string;
            displayName: string;
            endTime: string | null;
            exitCode: number | null;
            exitStatus: string | null;
            id: string;
            isReady: boolean;
            jobId: string;
            priority: number;
            resourcePool: string;
            serviceAddress: string;
            slots: number;
            startTime: string;
            state: components["schemas"]["TaskState"];
            userId: number;
            username: string;
            waitingReason: string;
            workspaceId: number;
        };
        Job: {
            allocatedSlots: number;
            entityId: string;
            isPreemptible: boolean;
            jobId: string;
            kind: components["schemas"]["JobKind"];
            name: string;
            priority: number;
            progress: number;
            requestedSlots: number;
            resourcePool: string;
            submissionTime: string;
            summary: components["schemas"]["JobSummary"];
            type: components["schemas"]["JobType"];
            userId: number;
            username: string;
            weight: number;
            workspaceId: number;
        };
        /** @enum {string} */
        JobKind: "EXPERIMENT" | "NOTEBOOK" | "TENSORBOARD" | "SHELL" | "COMMAND" | "GENERIC" | "DEPLOYMENT";
        /** @enum {string} */
        JobState: "STATE_UNSPECIFIED" | "STATE_QUEUED" | "STATE_SCHEDULED" | "STATE_SCHEDULED_BACKFILLED";
        JobSummary: {
            jobsAhead: number;
            state: components["schemas"]["JobState"];
            waitingFor: string;
            waitingReason: string;
        };
        /** @enum {string} */
        JobType: "TYPE_UNSPECIFIED" | "TYPE_EXPERIMENT" | "TYPE_NOTEBOOK" | "TYPE_TENSORBOARD" | "TYPE_SHELL" | "TYPE_COMMAND" | "TYPE_CHECKPOINT_GC" | "TYPE_EXTERNAL" | "TYPE_GENERIC";
        /** @description A node of an allocation says how the others reach it. */
        JoinRendezvousRequest: {
            address: string;
            nodeId?: string;
            nodes?: number;
            ports?: number[];
            slotIds?: number[];
        };
        JoinRendezvousResponse: {
            isComplete: boolean;
            ports: number[];
            rendezvousInfo: components["schemas"]["RendezvousInfo"] | null;
        };
        KillCommandResponse: {
            command: components["schemas"]["InteractiveTask"];
        };
        KillGenericTaskRequest: {
            killFromRoot?: boolean;
            taskId?: string;
        };
        KillNotebookResponse: {
            notebook: components["schemas"]["InteractiveTask"];
        };
        KillTensorboardResponse: {
            tensorboard: components["schemas"]["Tensorboard"];
        };
        LabelledBox: {
            area: number;
            bbox: number[];
            categoryId: number;
            id: number;
            iscrowd: number;
        };
        LabelledImage: {
            boxes: components["schemas"]["LabelledBox"][];
            fileName: string;
            height: number;
            id: number;
            path: string;
            width: number;
        };
        LabelsResponse: {
            labels: string[];
        };
        LaunchCommandResponse: {
            command: components["schemas"]["InteractiveTask"];
            config: {
                [key: string]: unknown;
            };
            messages: string[];
            warnings: components["schemas"]["LaunchWarning"][];
        };
        LaunchNotebookResponse: {
            config: {
                [key: string]: unknown;
            };
            messages: string[];
            notebook: components["schemas"]["InteractiveTask"];
            warnings: components["schemas"]["LaunchWarning"][];
        };
        LaunchRequest: {
            config?: {
                [key: string]: unknown;
            };
            files?: components["schemas"]["File"][];
            preview?: boolean;
            templateName?: string;
            workspaceId?: number;
        };
        LaunchTensorboardRequest: {
            config?: {
                [key: string]: unknown;
            };
            experimentIds?: number[];
            files?: components["schemas"]["File"][];
            preview?: boolean;
            templateName?: string;
            trialIds?: number[];
            workspaceId?: number;
        };
        LaunchTensorboardResponse: {
            config: {
                [key: string]: unknown;
            };
            messages: string[];
            tensorboard: components["schemas"]["Tensorboard"];
            warnings: components["schemas"]["LaunchWarning"][];
        };
        /** @enum {string} */
        LaunchWarning: "LAUNCH_WARNING_UNSPECIFIED" | "LAUNCH_WARNING_CURRENT_SLOTS_EXCEEDED";
        /** @description From what was there before to what was made of it. */
        LineageEdge: {
            from: string;
            to: string;
        };
        /** @description `id` is what the same thing is asked for by; `details` are facts for people, by kind. */
        LineageNode: {
            details: {
                [key: string]: unknown;
            };
            id: string;
            key: string;
            /** @enum {string} */
            kind: "dataset" | "experiment" | "trial" | "checkpoint" | "model_version" | "deployment";
            name: string;
            state: string;
            time: string | null;
        };
        LineageResponse: {
            edges: components["schemas"]["LineageEdge"][];
            isTruncated: boolean;
            nodes: components["schemas"]["LineageNode"][];
        };
        LinkDatasetRequest: {
            dataset?: string;
        };
        ListRPsBoundToWorkspaceResponse: {
            pagination: components["schemas"]["Pagination"];
            resourcePools: string[];
        };
        ListWorkspacesBoundToRPResponse: {
            pagination: components["schemas"]["Pagination"];
            workspaceIds: number[];
        };
        LogConfig: {
            color?: boolean | null;
            level?: components["schemas"]["LogLevel"] | null;
        };
        LogEntry: {
            id: number;
            level: components["schemas"]["LogLevel"];
            message: string;
            timestamp: string;
        };
        /** @description What the lines of a log can be filtered by. */
        LogFieldsResponse: {
            agentIds: string[];
            allocationIds: string[];
            containerIds: string[];
            rankIds: number[];
            sources: string[];
            stdtypes: string[];
        };
        LoginRequest: {
            isHashed?: boolean;
            password?: string;
            username?: string;
        };
        LoginResponse: {
            token: string;
            user: components["schemas"]["User"];
        };
        /** @enum {string} */
        LogLevel: "LOG_LEVEL_UNSPECIFIED" | "LOG_LEVEL_TRACE" | "LOG_LEVEL_DEBUG" | "LOG_LEVEL_INFO" | "LOG_LEVEL_WARNING" | "LOG_LEVEL_ERROR" | "LOG_LEVEL_CRITICAL";
        MasterConfigChanges: {
            log?: components["schemas"]["LogConfig"];
        };
        MasterLogsResponse: {
            logEntry: components["schemas"]["LogEntry"];
        };
        MetricBatchesResponse: {
            batches: number[];
        };
        MetricIdentifier: {
            group: string;
            name: string;
        };
        Metrics: {
            avgMetrics?: {
                [key: string]: unknown;
            };
            batchMetrics?: {
                [key: string]: unknown;
            }[] | null;
        };
        "Metrics-Input": {
            avgMetrics?: {
                [key: string]: unknown;
            };
            batchMetrics?: {
                [key: string]: unknown;
            }[] | null;
        };
        "Metrics-Output": {
            avgMetrics: {
                [key: string]: unknown;
            };
            batchMetrics: {
                [key: string]: unknown;
            }[] | null;
        };
        /** @description Columns of one metric of one trial, thinned to the asked number of points. */
        MetricSeries: {
            group: string;
            name: string;
            steps: number[];
            times: number[];
            totalPoints: number;
            trialId: number;
            values: (number | string)[];
        };
        MetricsRange: {
            max: number;
            metricsName: string;
            min: number;
        };
        MetricsReport: {
            archived: boolean;
            endTime: string;
            group: string;
            id: number;
            metrics: {
                [key: string]: unknown;
            };
            totalBatches: number;
            trialId: number;
            trialRunId: number;
        };
        MetricsWorkload: {
            endTime: string | null;
            metrics: components["schemas"]["Metrics-Output"];
            numInputs: number;
            totalBatches: number;
        };
        /** @enum {string} */
        MetricType: "METRIC_TYPE_UNSPECIFIED" | "METRIC_TYPE_TRAINING" | "METRIC_TYPE_VALIDATION" | "METRIC_TYPE_PROFILING";
        Model: {
            archived: boolean;
            creationTime: string;
            description: string;
            id: number;
            labels: string[];
            lastUpdatedTime: string;
            metadata: {
                [key: string]: unknown;
            };
            name: string;
            notes: string;
            numVersions: number;
            userId: number;
            username: string;
            workspaceId: number;
        };
        ModelResponse: {
            model: components["schemas"]["Model"];
        };
        /** @enum {string} */
        ModelSortBy: "SORT_BY_UNSPECIFIED" | "SORT_BY_NAME" | "SORT_BY_DESCRIPTION" | "SORT_BY_CREATION_TIME" | "SORT_BY_LAST_UPDATED_TIME" | "SORT_BY_NUM_VERSIONS" | "SORT_BY_WORKSPACE";
        ModelVersion: {
            checkpoint: components["schemas"]["Checkpoint"];
            comment: string;
            creationTime: string;
            id: number;
            labels: string[];
            lastUpdatedTime: string;
            metadata: {
                [key: string]: unknown;
            };
            model: components["schemas"]["Model"];
            name: string;
            notes: string;
            stage: components["schemas"]["Stage"];
            userId: number;
            username: string;
            version: number;
        };
        ModelVersionResponse: {
            modelVersion: components["schemas"]["ModelVersion"];
        };
        /** @enum {string} */
        ModelVersionSortBy: "SORT_BY_UNSPECIFIED" | "SORT_BY_VERSION" | "SORT_BY_CREATION_TIME";
        MoveExperimentRequest: {
            destinationProjectId: number;
            experimentId?: number;
        };
        MoveModelRequest: {
            destinationWorkspaceId: number;
            modelName?: string;
        };
        MoveProjectRequest: {
            destinationWorkspaceId: number;
            projectId?: number;
        };
        /**
         * @description Sort keys of lists that only have an id and a name.
         * @enum {string}
         */
        NameSortBy: "SORT_BY_UNSPECIFIED" | "SORT_BY_ID" | "SORT_BY_NAME";
        NewUser: {
            active?: boolean;
            admin?: boolean;
            agentUserGroup?: components["schemas"]["AgentUserGroup-Input"] | null;
            displayName?: string;
            remote?: boolean;
            username?: string;
        };
        "Note-Input": {
            contents?: string;
            name?: string;
        };
        "Note-Output": {
            contents: string;
            name: string;
        };
        NotesResponse: {
            notes: components["schemas"]["Note-Output"][];
        };
        /** @enum {string} */
        OrderBy: "ORDER_BY_UNSPECIFIED" | "ORDER_BY_ASC" | "ORDER_BY_DESC";
        Pagination: {
            endIndex: number;
            limit: number;
            offset: number;
            startIndex: number;
            total: number;
        };
        ParetoTrial: {
            hparams: {
                [key: string]: unknown;
            };
            metrics: {
                [key: string]: number | string;
            };
            steps: number;
            trialId: number;
        };
        PatchAccessTokenRequest: {
            description?: string | null;
            setRevoked?: boolean;
            tokenId?: number;
        };
        PatchAccessTokenResponse: {
            tokenInfo: components["schemas"]["TokenInfo"];
        };
        PatchCheckpoint: {
            resources?: components["schemas"]["PatchedResources"] | null;
            uuid: string;
        };
        PatchCheckpointsRequest: {
            checkpoints?: components["schemas"]["PatchCheckpoint"][];
        };
        PatchCheckpointStorage: {
            saveExperimentBest?: number | null;
            saveTrialBest?: number | null;
            saveTrialLatest?: number | null;
        };
        PatchDataset: {
            description?: string | null;
        };
        /** @description What is left out stays as it is. */
        PatchDeploymentRequest: {
            guard?: {
                [key: string]: unknown;
            } | null;
            public?: boolean | null;
            scaling?: {
                [key: string]: unknown;
            } | null;
            sticky?: string | null;
        };
        PatchedResources: {
            resources?: {
                [key: string]: number;
            };
        };
        PatchExperiment: {
            checkpointStorage?: components["schemas"]["PatchCheckpointStorage"] | null;
            description?: string | null;
            id?: number;
            labels?: string[] | null;
            name?: string | null;
            notes?: string | null;
            resources?: components["schemas"]["PatchResources"] | null;
        };
        PatchMasterConfigRequest: {
            config?: components["schemas"]["MasterConfigChanges"];
            fieldMask?: components["schemas"]["FieldMask"] | null;
        };
        /** @description What is left out stays. */
        PatchModel: {
            description?: string | null;
            labels?: string[] | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            name?: string | null;
            notes?: string | null;
            workspaceId?: number | null;
            workspaceName?: string | null;
        };
        /** @description What is left out stays. */
        PatchModelVersion: {
            comment?: string | null;
            labels?: string[] | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            name?: string | null;
            notes?: string | null;
            stage?: components["schemas"]["Stage"] | null;
        };
        PatchProject: {
            description?: string | null;
            key?: string | null;
            name?: string | null;
        };
        /** @description A null `maxSlots` lifts the limit; a missing one leaves it. */
        PatchResources: {
            maxSlots?: number | null;
            priority?: number | null;
            weight?: number | null;
        };
        PatchTemplateNameRequest: {
            newName?: string;
            oldName?: string;
        };
        PatchTrialRequest: {
            state?: components["schemas"]["TrialState"] | null;
            trialId?: number;
        };
        PatchUser: {
            active?: boolean | null;
            admin?: boolean | null;
            agentUserGroup?: components["schemas"]["AgentUserGroup-Input"] | null;
            displayName?: string | null;
            isHashed?: boolean;
            password?: string | null;
            remote?: boolean | null;
            username?: string | null;
        };
        PatchUsersRequest: {
            activate?: boolean;
            userIds?: number[];
        };
        PatchUsersResponse: {
            results: components["schemas"]["UserActionResult"][];
        };
        PatchWorkspace: {
            agentUserGroup?: components["schemas"]["AgentUserGroup-Input"] | null;
            checkpointStorageConfig?: {
                [key: string]: unknown;
            } | null;
            defaultAuxPool?: string | null;
            defaultComputePool?: string | null;
            name?: string | null;
        };
        /**
         * @description How far a gang has come, in the words that clients know for the state of an allocation.
         * @enum {string}
         */
        Phase: "PENDING" | "PULLING" | "STARTING" | "RUNNING" | "ENDED";
        PinRequest: {
            revision: number;
        };
        PostAccessTokenRequest: {
            description?: string;
            lifespan?: string;
            userId?: number;
        };
        PostAccessTokenResponse: {
            token: string;
            tokenId: number;
        };
        PostAllocationAcceleratorDataRequest: {
            acceleratorData?: components["schemas"]["AcceleratorData-Input"];
            allocationId?: string;
        };
        PostAllocationProxyAddressRequest: {
            allocationId?: string;
            proxyAddress?: string;
        };
        PostCheckpointMetadataRequest: {
            checkpoint?: components["schemas"]["CheckpointMetadata"];
        };
        PostDatasetRequest: {
            annotations?: string[];
            classes?: components["schemas"]["DatasetClass"][];
            description?: string;
            images?: string[];
            manifest?: string;
            name?: string;
            parents?: string[];
            statistics?: {
                [key: string]: unknown;
            };
            uri?: string;
            workspaceId?: number;
        };
        PostDatasetResponse: {
            dataset: components["schemas"]["Dataset"];
            isNew: boolean;
        };
        PostDeploymentRequest: {
            checkpointUuid?: string | null;
            guard?: {
                [key: string]: unknown;
            };
            model?: string | null;
            modelUri?: string | null;
            name: string;
            namespace?: string;
            public?: boolean;
            replace?: boolean;
            scaling?: {
                [key: string]: unknown;
            };
            serving?: {
                [key: string]: unknown;
            };
            sticky?: string;
            workspaceId?: number;
        };
        PostDeploymentResponse: {
            apiKey: string;
            deployment: components["schemas"]["Deployment"];
        };
        /** @description A line that a log shipper sends. */
        PostedLog: {
            level?: components["schemas"]["LogLevel"];
            log?: string;
            rank?: number | null;
            rankId?: number | null;
            source?: string;
            stdtype?: string;
            taskId?: string;
            timestamp?: string | null;
        };
        PostModelRequest: {
            description?: string;
            labels?: string[];
            metadata?: {
                [key: string]: unknown;
            };
            name?: string;
            notes?: string;
            workspaceId?: number | null;
            workspaceName?: string | null;
        };
        PostModelVersionRequest: {
            checkpointUuid: string;
            comment?: string;
            labels?: string[];
            metadata?: {
                [key: string]: unknown;
            };
            modelName?: string;
            name?: string;
            notes?: string;
        };
        PostProjectRequest: {
            description?: string;
            key?: string;
            name?: string;
            workspaceId?: number;
        };
        PostRunMetadataRequest: {
            metadata?: {
                [key: string]: unknown;
            };
            runId?: number;
        };
        PostSearcherActionsRequest: {
            actions?: {
                [key: string]: unknown;
            }[];
            progress?: number | null;
            upTo: number;
        };
        PostTaskLogsRequest: {
            logs?: components["schemas"]["PostedLog"][];
        };
        PostUserRequest: {
            isHashed?: boolean;
            password?: string;
            user?: components["schemas"]["NewUser"];
        };
        PostUserSettingRequest: {
            setting?: components["schemas"]["UserWebSetting-Input"] | null;
            settings?: components["schemas"]["UserWebSetting-Input"][];
        };
        PostWebhookEventDataRequest: {
            data?: components["schemas"]["CustomWebhookEventData"];
            experimentId?: number;
            trialId?: number | null;
        };
        PostWorkspaceRequest: {
            agentUserGroup?: components["schemas"]["AgentUserGroup-Input"] | null;
            checkpointStorageConfig?: {
                [key: string]: unknown;
            } | null;
            defaultAuxPool?: string | null;
            defaultComputePool?: string | null;
            name?: string;
        };
        /** @description A checkpoint that a retention policy would delete. PascalCase on the wire, as clients read it. */
        PreviewedCheckpoint: {
            Resources: {
                [key: string]: number;
            };
            State: string;
            StepsCompleted: number;
            TrialID: number;
            UUID: string;
            ValidationMetrics: {
                [key: string]: unknown;
            };
        };
        PreviewGcResponse: {
            checkpoints: components["schemas"]["PreviewedCheckpoint"][];
            metric_name: string;
        };
        PreviewHPSearchRequest: {
            config?: {
                [key: string]: unknown;
            };
            seed?: number;
        };
        PreviewHPSearchResponse: {
            summary: components["schemas"]["SearchSummary"];
        };
        PrioritySchedulerDetail: {
            defaultPriority: number;
            k8SPriorities: {
                [key: string]: unknown;
            }[];
            preemption: boolean;
        };
        /** @enum {string} */
        Product: "PRODUCT_UNSPECIFIED" | "PRODUCT_COMMUNITY";
        Project: {
            archived: boolean;
            description: string;
            errorMessage: string;
            id: number;
            immutable: boolean;
            key: string;
            lastExperimentStartedAt: string | null;
            name: string;
            notes: components["schemas"]["Note-Output"][];
            numActiveExperiments: number;
            numExperiments: number;
            numRuns: number;
            state: components["schemas"]["WorkspaceState"];
            userId: number;
            username: string;
            workspaceId: number;
            workspaceName: string;
        };
        ProjectColumn: {
            column: string;
            displayName: string;
            location: components["schemas"]["ColumnLocation"];
            type: components["schemas"]["ColumnType"];
        };
        ProjectResponse: {
            project: components["schemas"]["Project"];
        };
        ProxyPortConfig: {
            port: number;
            proxyTcp: boolean;
            serviceId: string;
            unauthenticated: boolean;
        };
        PutExperimentResponse: {
            config: {
                [key: string]: unknown;
            };
            experiment: components["schemas"]["Experiment"];
        };
        PutProjectNotesRequest: {
            notes?: components["schemas"]["Note-Input"][];
            projectId?: number;
        };
        PutTrialRequest: {
            createTrialRequest?: components["schemas"]["CreateTrialRequest"];
            externalTrialId?: string;
        };
        /** @description One change to one job. Exactly one of the optional fields is given. */
        QueueControl: {
            aheadOf?: string | null;
            behindOf?: string | null;
            jobId: string;
            priority?: number | null;
            resourcePool?: string | null;
            weight?: number | null;
        };
        QueueStats: {
            queuedCount: number;
            scheduledCount: number;
        };
        RBACJob: {
            full: components["schemas"]["Job"] | null;
        };
        RemainingLogRetentionDays: {
            remainingDays: number | null;
        };
        RendezvousInfo: {
            addresses: string[];
            rank: number;
            slots: number[];
        };
        Replica: {
            address: string;
            allocationId: string;
            reason: string;
            state: components["schemas"]["ReplicaState"];
            taskId: string;
        };
        /** @enum {string} */
        ReplicaState: "STATE_QUEUED" | "STATE_STARTING" | "STATE_READY" | "STATE_UNHEALTHY" | "STATE_DRAINING" | "STATE_RESTARTING" | "STATE_STOPPING";
        /** @description A finished checkpoint. `digests` (sha256 per file) is ours and optional. */
        ReportCheckpointRequest: {
            allocationId?: string;
            digests?: {
                [key: string]: string;
            } | null;
            metadata?: {
                [key: string]: unknown;
            };
            reportTime?: string | null;
            resources?: {
                [key: string]: number;
            };
            state?: components["schemas"]["CheckpointState"];
            storageId?: number | null;
            taskId?: string;
            uuid: string;
        };
        ReportMetricsBatchRequest: {
            reports: components["schemas"]["BatchedReport"][];
        };
        /** @description How far a node of an allocation has come. */
        ReportPhaseRequest: {
            exitCode?: number | null;
            phase: components["schemas"]["Phase"];
            reason?: string;
        };
        ReportTrialMetricsRequest: {
            group: string;
            metrics: components["schemas"]["TrialMetrics"];
        };
        ReportTrialProgressRequest: {
            isRaw?: boolean;
            progress?: number;
        };
        ReportTrialSourceInfoRequest: {
            trialSourceInfo: components["schemas"]["TrialSourceInfo"];
        };
        ReportTrialSourceInfoResponse: {
            checkpointUuid: string;
            trialId: number;
        };
        ResourceAllocationAggregatedEntry: {
            byAgentLabel: {
                [key: string]: number;
            };
            byExperimentLabel: {
                [key: string]: number;
            };
            byResourcePool: {
                [key: string]: number;
            };
            byUsername: {
                [key: string]: number;
            };
            period: components["schemas"]["AggregationPeriod"];
            periodStart: string;
            seconds: number;
        };
        ResourceAllocationAggregatedResponse: {
            resourceEntries: components["schemas"]["ResourceAllocationAggregatedEntry"][];
        };
        ResourceAllocationRawEntry: {
            endTime: string | null;
            experimentId: number;
            kind: string;
            labels: string[];
            seconds: number;
            slots: number;
            startTime: string;
            userId: number;
            username: string;
        };
        ResourceAllocationRawResponse: {
            resourceEntries: components["schemas"]["ResourceAllocationRawEntry"][];
        };
        ResourcePool: {
            accelerator: string;
            agentDockerImage: string;
            agentDockerNetwork: string;
            agentDockerRuntime: string;
            agentFluentImage: string;
            auxContainerCapacity: number;
            auxContainerCapacityPerAgent: number;
            auxContainersRunning: number;
            clusterName: string;
            containerStartupScript: string;
            defaultAuxPool: boolean;
            defaultComputePool: boolean;
            description: string;
            details: components["schemas"]["ResourcePoolDetail"];
            imageId: string;
            instanceType: string;
            location: string;
            masterCertName: string;
            masterUrl: string;
            maxAgents: number;
            maxAgentStartingPeriod: number;
            maxIdleAgentPeriod: number;
            minAgents: number;
            name: string;
            numAgents: number;
            preemptible: boolean;
            resourceManagerMetadata: {
                [key: string]: string;
            };
            schedulerFittingPolicy: components["schemas"]["FittingPolicy"];
            schedulerType: components["schemas"]["SchedulerType"];
            slotsAvailable: number;
            slotsPerAgent: number;
            slotsUsed: number;
            slotType: components["schemas"]["DeviceType"];
            startupScript: string;
            stats: components["schemas"]["QueueStats"];
            type: components["schemas"]["ResourcePoolType"];
        };
        ResourcePoolDetail: {
            aws: {
                [key: string]: unknown;
            } | null;
            gcp: {
                [key: string]: unknown;
            } | null;
            priorityScheduler: components["schemas"]["PrioritySchedulerDetail"] | null;
        };
        /** @enum {string} */
        ResourcePoolType: "RESOURCE_POOL_TYPE_UNSPECIFIED" | "RESOURCE_POOL_TYPE_AWS" | "RESOURCE_POOL_TYPE_GCP" | "RESOURCE_POOL_TYPE_STATIC" | "RESOURCE_POOL_TYPE_K8S";
        ResourcesFailure: {
            errMsg: string;
            exitCode: number | null;
            failureType: components["schemas"]["FailureType"];
        };
        ResourcesStarted: {
            addresses: components["schemas"]["Address"][];
            nativeResourcesId: string;
        };
        ResourcesStopped: {
            failure: components["schemas"]["ResourcesFailure"] | null;
        };
        ResourcesSummary: {
            agentDevices: {
                [key: string]: components["schemas"]["ResourcesSummaryDevices"];
            };
            allocationId: string;
            containerId: string | null;
            exited: components["schemas"]["ResourcesStopped"] | null;
            resourcesId: string;
            resourcesType: string;
            started: components["schemas"]["ResourcesStarted"] | null;
        };
        ResourcesSummaryDevices: {
            devices: components["schemas"]["Device"][];
        };
        RetainLogsRequest: {
            numDays?: number | null;
        };
        Revision: {
            checkpointUuid: string | null;
            createdAt: string;
            modelName: string;
            modelVersion: number | null;
            number: number;
            reason: string;
            replicas: components["schemas"]["Replica"][];
            replicasReady: number;
            replicasWanted: number;
            serving: components["schemas"]["Serving"];
            source: string;
            state: components["schemas"]["RevisionState"];
            trafficPercent: number;
        };
        /** @enum {string} */
        RevisionState: "STATE_STARTING" | "STATE_READY" | "STATE_FAILED" | "STATE_RETIRED";
        RoleAssignmentSummary: {
            roleId: number;
            scopeCluster: boolean;
            scopeWorkspaceIds: number[];
        };
        RPQueueStat: {
            aggregates: components["schemas"]["AggregateQueueStats"][];
            resourcePool: string;
            stats: components["schemas"]["QueueStats"];
        };
        RunMetadataResponse: {
            metadata: {
                [key: string]: unknown;
            };
        };
        RunPrepareForReportingRequest: {
            checkpointStorage?: {
                [key: string]: unknown;
            } | null;
            runId: number;
        };
        RunPrepareForReportingResponse: {
            storageId: number | null;
        };
        Scaling: {
            idleS: number;
            maxReplicas: number;
            metric: string;
            minReplicas: number;
            target: number;
            windowS: number;
        };
        /** @enum {string} */
        SchedulerType: "SCHEDULER_TYPE_UNSPECIFIED" | "SCHEDULER_TYPE_PRIORITY" | "SCHEDULER_TYPE_FAIR_SHARE" | "SCHEDULER_TYPE_ROUND_ROBIN" | "SCHEDULER_TYPE_KUBERNETES" | "SCHEDULER_TYPE_SLURM" | "SCHEDULER_TYPE_PBS";
        SearcherOperation: {
            validateAfter: components["schemas"]["ValidateAfterOperation-Output"] | null;
        };
        SearchExperimentExperiment: {
            bestTrial: components["schemas"]["Trial"] | null;
            experiment: components["schemas"]["Experiment"];
        };
        SearchExperimentsRequest: {
            filter?: string;
            limit?: number;
            offset?: number;
            projectId?: number | null;
            sort?: string;
        };
        SearchExperimentsResponse: {
            experiments: components["schemas"]["SearchExperimentExperiment"][];
            pagination: components["schemas"]["Pagination"];
        };
        SearchSummary: {
            config: {
                [key: string]: unknown;
            };
            trials: components["schemas"]["TrialSummary"][];
        };
        SearchUnit: {
            maxLength: boolean;
            name: string;
            value: number;
        };
        SeriesResponse: {
            series: components["schemas"]["MetricSeries"][];
        };
        Serving: {
            allowPickle: boolean;
            command: string[];
            environment: {
                [key: string]: string;
            };
            healthPath: string;
            hungAfterS: number;
            idempotent: boolean;
            maxBatchDelayMs: number;
            maxBatchSize: number;
            maxBodyBytes: number;
            maxQueue: number;
            memoryBytes: number;
            options: {
                [key: string]: unknown;
            };
            priority: number;
            resourcePool: string;
            slots: number;
            startupTimeoutS: number;
            timeoutS: number;
            trusted: boolean;
            weight: number;
        };
        SetClusterMessageRequest: {
            duration?: string;
            endTime?: string | null;
            message?: string;
            startTime?: string | null;
        };
        SetPriorityRequest: {
            priority?: number;
        };
        /** @description Without a source: the share of the shadow that is running changes. */
        ShadowRequest: {
            checkpointUuid?: string | null;
            model?: string | null;
            modelUri?: string | null;
            percent?: number;
            serving?: {
                [key: string]: unknown;
            };
        };
        Slot: {
            container: components["schemas"]["Container"] | null;
            device: components["schemas"]["Device"];
            draining: boolean;
            enabled: boolean;
            id: string;
        };
        SlotResponse: {
            slot: components["schemas"]["Slot"];
        };
        SlotStats: {
            brandStats: {
                [key: string]: components["schemas"]["DeviceStats"];
            };
            typeStats: {
                [key: string]: components["schemas"]["DeviceStats"];
            };
        };
        SSOProvider: {
            name: string;
            ssoUrl: string;
        };
        /**
         * @description How far a version has come. At most one version of a model is in production.
         * @enum {string}
         */
        Stage: "NONE" | "STAGING" | "PRODUCTION" | "RETIRED";
        StartTrialRequest: {
            resume?: boolean;
            trialId?: number;
        };
        StartTrialResponse: {
            latestCheckpoint: string | null;
            stepsCompleted: number;
            trialRunId: number;
        };
        Task: {
            allocations: components["schemas"]["Allocation"][];
            config: string | null;
            endTime: string | null;
            forkedFrom: string | null;
            noPause: boolean | null;
            parentId: string | null;
            startTime: string;
            taskId: string;
            taskState: components["schemas"]["GenericTaskState"] | null;
            taskType: components["schemas"]["TaskType"];
        };
        TaskLogsResponse: {
            agentId: string | null;
            allocationId: string | null;
            containerId: string | null;
            id: string;
            level: components["schemas"]["LogLevel"];
            log: string;
            message: string;
            rankId: number | null;
            source: string | null;
            stdtype: string | null;
            taskId: string;
            timestamp: string;
        };
        /** @enum {string} */
        TaskState: "STATE_UNSPECIFIED" | "STATE_PULLING" | "STATE_STARTING" | "STATE_RUNNING" | "STATE_TERMINATED" | "STATE_TERMINATING" | "STATE_WAITING" | "STATE_QUEUED";
        /** @enum {string} */
        TaskType: "TASK_TYPE_UNSPECIFIED" | "TASK_TYPE_TRIAL" | "TASK_TYPE_NOTEBOOK" | "TASK_TYPE_SHELL" | "TASK_TYPE_COMMAND" | "TASK_TYPE_TENSORBOARD" | "TASK_TYPE_CHECKPOINT_GC" | "TASK_TYPE_GENERIC";
        "Template-Input": {
            config?: {
                [key: string]: unknown;
            };
            name?: string;
            workspaceId?: number;
        };
        "Template-Output": {
            config: {
                [key: string]: unknown;
            };
            name: string;
            workspaceId: number;
        };
        TemplateResponse: {
            template: components["schemas"]["Template-Output"];
        };
        Tensorboard: {
            description: string;
            displayName: string;
            endTime: string | null;
            exitCode: number | null;
            exitStatus: string | null;
            experimentIds: number[];
            id: string;
            isReady: boolean;
            jobId: string;
            priority: number;
            resourcePool: string;
            serviceAddress: string;
            slots: number;
            startTime: string;
            state: components["schemas"]["TaskState"];
            trialIds: number[];
            userId: number;
            username: string;
            waitingReason: string;
            workspaceId: number;
        };
        TokenInfo: {
            createdAt: string | null;
            description: string;
            expiry: string | null;
            id: number;
            revoked: boolean;
            tokenType: components["schemas"]["TokenType"];
            userId: number;
        };
        /** @enum {string} */
        TokenType: "TOKEN_TYPE_UNSPECIFIED" | "TOKEN_TYPE_USER_SESSION" | "TOKEN_TYPE_ACCESS_TOKEN";
        TrafficPoint: {
            errors: number;
            inFlight: number;
            p50Ms: number | null;
            p95Ms: number | null;
            p99Ms: number | null;
            requests: number;
            revision: number;
            time: string;
        };
        Trial: {
            bestCheckpoint: components["schemas"]["CheckpointWorkload"] | null;
            bestValidation: components["schemas"]["MetricsWorkload"] | null;
            checkpointCount: number;
            endTime: string | null;
            exitReason: string;
            experimentId: number;
            hparams: {
                [key: string]: unknown;
            };
            id: number;
            latestValidation: components["schemas"]["MetricsWorkload"] | null;
            logPolicyMatched: string | null;
            logRetentionDays: number | null;
            metadata: {
                [key: string]: unknown;
            } | null;
            progress: number;
            requestId: string;
            restarts: number;
            runId: number;
            runnerState: string;
            searcherMetricValue: number | string | null;
            seed: number;
            startTime: string;
            state: components["schemas"]["TrialState"];
            summaryMetrics: {
                [key: string]: unknown;
            };
            taskId: string;
            taskIds: string[];
            totalBatchesProcessed: number;
            totalCheckpointSize: string;
            waitingReason: string;
            wallClockTime: number | null;
            warmStartCheckpointUuid: string;
        };
        TrialEarlyExit: {
            reason?: components["schemas"]["ExitedReason"];
        };
        TrialLogsResponse: {
            agentId: string | null;
            containerId: string | null;
            id: string;
            level: components["schemas"]["LogLevel"];
            log: string;
            message: string;
            rankId: number | null;
            source: string | null;
            stdtype: string | null;
            timestamp: string;
            trialId: number;
        };
        TrialMetrics: {
            metrics?: components["schemas"]["Metrics-Input"];
            reportTime?: string | null;
            stepsCompleted?: number | null;
            trialId?: number;
            trialRunId?: number;
        };
        TrialResponse: {
            trial: components["schemas"]["Trial"];
        };
        TrialRunnerMetadata: {
            state?: string;
        };
        /** @enum {string} */
        TrialSortBy: "SORT_BY_UNSPECIFIED" | "SORT_BY_ID" | "SORT_BY_START_TIME" | "SORT_BY_END_TIME" | "SORT_BY_STATE" | "SORT_BY_BEST_VALIDATION_METRIC" | "SORT_BY_LATEST_VALIDATION_METRIC" | "SORT_BY_BATCHES_PROCESSED" | "SORT_BY_DURATION" | "SORT_BY_RESTARTS" | "SORT_BY_CHECKPOINT_SIZE" | "SORT_BY_LOG_RETENTION_DAYS";
        TrialSourceInfo: {
            checkpointUuid: string;
            modelId?: number | null;
            modelVersion?: number | null;
            trialId: number;
            trialSourceInfoType?: components["schemas"]["TrialSourceInfoType"];
        };
        /**
         * @description How a trial used a checkpoint or a model version.
         * @enum {string}
         */
        TrialSourceInfoType: "TRIAL_SOURCE_INFO_TYPE_UNSPECIFIED" | "TRIAL_SOURCE_INFO_TYPE_INFERENCE" | "TRIAL_SOURCE_INFO_TYPE_FINE_TUNING";
        TrialsSampleResponse: {
            demotedTrials: number[];
            promotedTrials: number[];
            trials: components["schemas"]["TrialsSampleTrial"][];
        };
        TrialsSampleTrial: {
            data: components["schemas"]["DataPoint"][];
            hparams: {
                [key: string]: unknown;
            };
            trialId: number;
        };
        TrialsSnapshotResponse: {
            trials: components["schemas"]["TrialsSnapshotTrial"][];
        };
        TrialsSnapshotTrial: {
            batchesProcessed: number;
            hparams: {
                [key: string]: unknown;
            };
            metric: number | string;
            trialId: number;
        };
        /** @enum {string} */
        TrialState: "STATE_UNSPECIFIED" | "STATE_ACTIVE" | "STATE_PAUSED" | "STATE_STOPPING_CANCELED" | "STATE_STOPPING_KILLED" | "STATE_STOPPING_COMPLETED" | "STATE_STOPPING_ERROR" | "STATE_CANCELED" | "STATE_COMPLETED" | "STATE_ERROR" | "STATE_QUEUED" | "STATE_PULLING" | "STATE_STARTING" | "STATE_RUNNING";
        TrialSummary: {
            count: number;
            unit: components["schemas"]["SearchUnit"];
        };
        UpdateJobQueueRequest: {
            updates?: components["schemas"]["QueueControl"][];
        };
        User: {
            active: boolean;
            admin: boolean;
            agentUserGroup: components["schemas"]["AgentUserGroup-Output"] | null;
            displayName: string;
            id: number;
            lastAuthAt: string | null;
            modifiedAt: string | null;
            remote: boolean;
            username: string;
        };
        UserActionResult: {
            error: string;
            id: number;
        };
        UserResponse: {
            user: components["schemas"]["User"];
        };
        "UserWebSetting-Input": {
            key: string;
            storagePath?: string;
            value?: string;
        };
        "UserWebSetting-Output": {
            key: string;
            storagePath: string;
            value: string;
        };
        "ValidateAfterOperation-Input": {
            length?: number;
        };
        "ValidateAfterOperation-Output": {
            length: string;
        };
        ValidationError: {
            ctx?: Record<string, never>;
            input?: unknown;
            loc: (string | number)[];
            msg: string;
            type: string;
        };
        ValidationHistoryEntry: {
            endTime: string;
            searcherMetric: number | string;
            trialId: number;
        };
        /**
         * @description How whoever acted was known.
         * @enum {string}
         */
        Via: "SESSION" | "ACCESS_TOKEN" | "TASK" | "NOBODY" | "PLATFORM";
        Webhook: {
            id: number;
            url: string;
        };
        /** @description Exactly one of the three is set. */
        WorkloadContainer: {
            checkpoint: components["schemas"]["CheckpointWorkload"] | null;
            training: components["schemas"]["MetricsWorkload"] | null;
            validation: components["schemas"]["MetricsWorkload"] | null;
        };
        Workspace: {
            agentUserGroup: components["schemas"]["AgentUserGroup-Output"] | null;
            archived: boolean;
            checkpointStorageConfig: {
                [key: string]: unknown;
            } | null;
            defaultAuxPool: string;
            defaultComputePool: string;
            errorMessage: string;
            id: number;
            immutable: boolean;
            name: string;
            numExperiments: number;
            numProjects: number;
            pinned: boolean;
            pinnedAt: string | null;
            state: components["schemas"]["WorkspaceState"];
            userId: number;
            username: string;
        };
        WorkspaceResponse: {
            namespaceBindings: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            workspace: components["schemas"]["Workspace"];
        };
        /** @enum {string} */
        WorkspaceState: "WORKSPACE_STATE_UNSPECIFIED" | "WORKSPACE_STATE_DELETING" | "WORKSPACE_STATE_DELETE_FAILED" | "WORKSPACE_STATE_DELETED";
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
