"""What an experiment's first trial would be started as, in the words of the engine that would run it. Stores nothing,
starts nothing, and holds no secret: the gang is made of a configuration whose secrets are masked.
"""

import hashlib
from dataclasses import replace

from resolute.domain.allocation import Allocation, AllocationState, NodeShare
from resolute.domain.claim import Claim
from resolute.domain.errors import InvalidInput
from resolute.domain.placement import place
from resolute.domain.task import Task, TaskType
from resolute.domain.trial import Trial, TrialState
from resolute.domain.user import User
from resolute.engine.access.agent_accounts import account_of
from resolute.engine.experiments.configuration import configuration_of
from resolute.engine.experiments.submission import CreatedExperiment, new_search
from resolute.engine.jobs.cluster import usable_nodes
from resolute.engine.jobs.gang import Launch, task_variables
from resolute.engine.jobs.pools import find_pool
from resolute.engine.platform import Platform
from resolute.engine.trials.gang import trial_gang
from resolute.search.events import CreateTrial, SearchStarted
from resolute.spec.secrets import MASK, masked


def native_request(platform: Platform, validated: CreatedExperiment, *, user: User) -> dict[str, object]:
    """`validated`: as `create_experiment` gives it with `validate_only`. Ids that are given later are 0."""
    config, context = masked(validated.config), validated.context
    context_id = hashlib.sha256(context).hexdigest() if context else None
    experiment = replace(validated.experiment, config=config, context_id=context_id)
    trial = _first_trial(platform, validated)
    task = Task(
        id=trial.task_id,
        type=TaskType.TRIAL,
        job_id=experiment.job_id,
        start_time=trial.start_time,
        user_id=user.id,
        context_id=context_id,
    )
    allocation = _placed(platform, validated, task)
    with platform.store.read() as tx:
        workspace_id = tx.workspaces.project(experiment.project_id).workspace_id
        account = account_of(platform, tx, user_id=user.id, workspace_id=workspace_id)
    launch = Launch(
        task=task,
        allocation=allocation,
        variables=task_variables(platform.config, task, allocation, username=user.username, token=MASK),
        device=find_pool(platform, allocation.resource_pool, key="resources.resource_pool").device,
        log_path=str(platform.logs.path(task.id)),
        account=account,
    )
    checkpoint = trial.warm_start_checkpoint
    gang = trial_gang(launch, experiment, trial, context=context, checkpoint=checkpoint, steps_completed=0)
    return platform.runner.render(gang)


def _first_trial(platform: Platform, validated: CreatedExperiment) -> Trial:
    actions = new_search(platform, configuration_of(validated.experiment)).handle(SearchStarted()).actions
    created = next((action for action in actions if isinstance(action, CreateTrial)), None)
    if created is None:
        name = validated.experiment.searcher_name
        raise InvalidInput(f"searcher.name: {name} makes no trial before it is told to, so there is nothing to show.")
    experiment = validated.experiment
    return Trial(
        id=0,
        experiment_id=experiment.id,
        request_id=created.request_id,
        task_id=f"{experiment.id}.{created.request_id}",
        state=TrialState.ACTIVE,
        changed_at=experiment.start_time,
        start_time=experiment.start_time,
        hparams=created.hparams,
        seed=created.seed,
        run_id=1,
        warm_start_checkpoint=configuration_of(experiment).searcher.source_checkpoint_uuid,
    )


def _placed(platform: Platform, validated: CreatedExperiment, task: Task) -> Allocation:
    """Where it would go if nothing else ran; in a delegating pool the engine says where, and nobody knows yet."""
    resources = configuration_of(validated.experiment).resources
    now = validated.experiment.start_time
    allocation = Allocation(
        id=f"{task.id}.1",
        task_id=task.id,
        job_id=task.job_id,
        state=AllocationState.QUEUED,
        changed_at=now,
        created_at=now,
        slots_needed=resources.slots_per_trial,
        resource_pool=validated.job.resource_pool,
        run_id=1,
        single_node=bool(resources.is_single_node),
    )
    pool = find_pool(platform, allocation.resource_pool, key="resources.resource_pool")
    return allocation if pool.is_delegating else replace(allocation, shares=_shares(platform, allocation))


def _shares(platform: Platform, allocation: Allocation) -> tuple[NodeShare, ...]:
    with platform.store.read() as tx:
        nodes = [n for n in usable_nodes(platform, tx) if n.resource_pool == allocation.resource_pool]
    claim = Claim(
        allocation_id=allocation.id,
        job_id=allocation.job_id,
        slots=allocation.slots_needed,
        created_at=allocation.created_at,
        single_node=allocation.single_node,
    )
    assigned = dict(place(nodes, [claim], fitting=platform.config.fitting_policy).assign)
    if allocation.id not in assigned:
        raise InvalidInput(
            f"resources.slots_per_trial: {allocation.slots_needed} slots do not fit on the nodes of pool "
            f"{allocation.resource_pool}, even if nothing else ran there, so there is nothing to show. Ask for fewer."
        )
    return assigned[allocation.id]
