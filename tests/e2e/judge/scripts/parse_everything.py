"""Calls reading operations of the official bindings, which parse every answer field by field: a missing key fails.

Arguments: experiment id, trial id, checkpoint uuid, task id, allocation id.
"""

import os
import sys

from determined.common.api import authentication, bindings

experiment, trial, checkpoint, task, allocation = sys.argv[1:]
session = authentication.login(os.environ["DET_MASTER"], "determined", "")
session = session.with_retry(0) if hasattr(session, "with_retry") else session
AGENT = bindings.get_GetAgents(session).agents[0].id

CALLS = {
    "GetMe": lambda: bindings.get_GetMe(session),
    "CurrentUser": lambda: bindings.get_CurrentUser(session),
    "GetMaster": lambda: bindings.get_GetMaster(session),
    "GetMasterConfig": lambda: bindings.get_GetMasterConfig(session),
    "GetTelemetry": lambda: bindings.get_GetTelemetry(session),
    "MasterLogs": lambda: list(bindings.get_MasterLogs(session)),
    "GetUsers": lambda: bindings.get_GetUsers(session),
    "GetUser": lambda: bindings.get_GetUser(session, userId=1),
    "GetUserByUsername": lambda: bindings.get_GetUserByUsername(session, username="admin"),
    "GetUserSetting": lambda: bindings.get_GetUserSetting(session),
    "GetAccessTokens": lambda: bindings.get_GetAccessTokens(session),
    "GetPermissionsSummary": lambda: bindings.get_GetPermissionsSummary(session),
    "GetExperiments": lambda: bindings.get_GetExperiments(session),
    "GetExperiment": lambda: bindings.get_GetExperiment(session, experimentId=int(experiment)),
    "GetExperimentTrials": lambda: bindings.get_GetExperimentTrials(session, experimentId=int(experiment)),
    "GetExperimentCheckpoints": lambda: bindings.get_GetExperimentCheckpoints(session, id=int(experiment)),
    "GetExperimentValidationHistory": lambda: bindings.get_GetExperimentValidationHistory(
        session, experimentId=int(experiment)
    ),
    "GetBestSearcherValidationMetric": lambda: bindings.get_GetBestSearcherValidationMetric(
        session, experimentId=int(experiment)
    ),
    "GetModelDef": lambda: bindings.get_GetModelDef(session, experimentId=int(experiment)),
    "GetModelDefTree": lambda: bindings.get_GetModelDefTree(session, experimentId=int(experiment)),
    "GetModelDefFile": lambda: bindings.post_GetModelDefFile(
        session,
        experimentId=int(experiment),
        body=bindings.v1GetModelDefFileRequest(experimentId=int(experiment), path="train.py"),
    ),
    "GetExperimentLabels": lambda: bindings.get_GetExperimentLabels(session),
    "SearchExperiments": lambda: bindings.post_SearchExperiments(session, body=bindings.v1SearchExperimentsRequest()),
    "ExpMetricNames": lambda: list(bindings.get_ExpMetricNames(session, ids=[int(experiment)])),
    "MetricBatches": lambda: list(
        bindings.get_MetricBatches(session, experimentId=int(experiment), metricName="val_loss")
    ),
    "TrialsSample": lambda: list(
        bindings.get_TrialsSample(session, experimentId=int(experiment), metricName="val_loss")
    ),
    "TrialsSnapshot": lambda: list(
        bindings.get_TrialsSnapshot(session, experimentId=int(experiment), metricName="val_loss", batchesProcessed=3)
    ),
    "GetTrial": lambda: bindings.get_GetTrial(session, trialId=int(trial)),
    "GetTrialWorkloads": lambda: bindings.get_GetTrialWorkloads(session, trialId=int(trial)),
    "GetTrialCheckpoints": lambda: bindings.get_GetTrialCheckpoints(session, id=int(trial)),
    "GetTrialRemainingLogRetentionDays": lambda: bindings.get_GetTrialRemainingLogRetentionDays(session, id=int(trial)),
    "CompareTrials": lambda: bindings.get_CompareTrials(session, trialIds=[int(trial)]),
    "GetMetrics": lambda: list(bindings.get_GetMetrics(session, trialIds=[int(trial)], group="training")),
    "GetTrainingMetrics": lambda: list(bindings.get_GetTrainingMetrics(session, trialIds=[int(trial)])),
    "GetValidationMetrics": lambda: list(bindings.get_GetValidationMetrics(session, trialIds=[int(trial)])),
    "TrialLogs": lambda: list(bindings.get_TrialLogs(session, trialId=int(trial))),
    "TrialLogsFields": lambda: list(bindings.get_TrialLogsFields(session, trialId=int(trial))),
    "GetRunMetadata": lambda: bindings.get_GetRunMetadata(session, runId=int(trial)),
    "GetCheckpoint": lambda: bindings.get_GetCheckpoint(session, checkpointUuid=checkpoint),
    "GetTrialMetricsByCheckpoint": lambda: bindings.get_GetTrialMetricsByCheckpoint(session, checkpointUuid=checkpoint),
    "GetTask": lambda: bindings.get_GetTask(session, taskId=task),
    "GetTasks": lambda: bindings.get_GetTasks(session),
    "GetActiveTasksCount": lambda: bindings.get_GetActiveTasksCount(session),
    "GetTaskContextDirectory": lambda: bindings.get_GetTaskContextDirectory(session, taskId=task),
    "GetTaskAcceleratorData": lambda: bindings.get_GetTaskAcceleratorData(session, taskId=task),
    "TaskLogs": lambda: list(bindings.get_TaskLogs(session, taskId=task)),
    "TaskLogsFields": lambda: list(bindings.get_TaskLogsFields(session, taskId=task)),
    "GetAllocation": lambda: bindings.get_GetAllocation(session, allocationId=allocation),
    "GetAgents": lambda: bindings.get_GetAgents(session),
    "GetAgent": lambda: bindings.get_GetAgent(session, agentId=AGENT),
    "GetSlots": lambda: bindings.get_GetSlots(session, agentId=AGENT),
    "GetSlot": lambda: bindings.get_GetSlot(session, agentId=AGENT, slotId="0"),
    "GetResourcePools": lambda: bindings.get_GetResourcePools(session),
    "GetJobs": lambda: bindings.get_GetJobs(session, resourcePool="default"),
    "GetJobsV2": lambda: bindings.get_GetJobsV2(session, resourcePool="default"),
    "GetJobQueueStats": lambda: bindings.get_GetJobQueueStats(session),
    "ListWorkspacesBoundToRP": lambda: bindings.get_ListWorkspacesBoundToRP(session, resourcePoolName="default"),
    "GetWorkspaces": lambda: bindings.get_GetWorkspaces(session),
    "GetWorkspace": lambda: bindings.get_GetWorkspace(session, id=1),
    "GetWorkspaceProjects": lambda: bindings.get_GetWorkspaceProjects(session, id=1),
    "ListRPsBoundToWorkspace": lambda: bindings.get_ListRPsBoundToWorkspace(session, workspaceId=1),
    "GetProject": lambda: bindings.get_GetProject(session, id=1),
    "GetProjectColumns": lambda: bindings.get_GetProjectColumns(session, id=1),
    "GetProjectNumericMetricsRange": lambda: bindings.get_GetProjectNumericMetricsRange(session, id=1),
    "GetProjectsByUserActivity": lambda: bindings.get_GetProjectsByUserActivity(session),
    "GetTemplates": lambda: bindings.get_GetTemplates(session),
    "GetModels": lambda: bindings.get_GetModels(session),
    "GetWebhooks": lambda: bindings.get_GetWebhooks(session),
    "GetNotebooks": lambda: bindings.get_GetNotebooks(session),
    "GetTensorboards": lambda: bindings.get_GetTensorboards(session),
    "GetShells": lambda: bindings.get_GetShells(session),
    "GetCommands": lambda: bindings.get_GetCommands(session),
    "ResourceAllocationRaw": lambda: bindings.get_ResourceAllocationRaw(
        session, timestampAfter="2026-01-01T00:00:00Z", timestampBefore="2036-01-01T00:00:00Z"
    ),
    "ResourceAllocationAggregated": lambda: bindings.get_ResourceAllocationAggregated(
        session,
        startDate="2026-01",
        endDate="2026-03",
        period=bindings.v1ResourceAllocationAggregationPeriod.MONTHLY,
    ),
    "PreviewHPSearch": lambda: bindings.post_PreviewHPSearch(
        session,
        body=bindings.v1PreviewHPSearchRequest(
            config={"entrypoint": "x", "searcher": {"name": "single", "metric": "a", "max_length": {"batches": 5}}}
        ),
    ),
}

failed = []
for name, call in CALLS.items():
    try:
        call()
    except Exception as error:
        failed.append(f"{name}: {type(error).__name__}: {error}")
print(f"parsed {len(CALLS) - len(failed)} of {len(CALLS)}")
print("\n".join(failed))
sys.exit(1 if failed else 0)
