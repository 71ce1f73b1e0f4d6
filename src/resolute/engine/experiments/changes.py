"""What people do with experiments: pause, activate, cancel, kill, archive, move, change, delete."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypedDict

from resolute.domain.checkpoint import CheckpointState
from resolute.domain.errors import IllegalTransition, InvalidInput, ResoluteError
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.job import Job
from resolute.domain.queue import check_priority, check_weight
from resolute.domain.retention import RetentionPolicy
from resolute.domain.trial import Trial, TrialState
from resolute.engine.experiments.collection import refuse_registered
from resolute.engine.experiments.configuration import checked
from resolute.engine.experiments.searching import closing_event, feed
from resolute.engine.experiments.tensorboard_files import remove_tensorboard_files
from resolute.engine.jobs.allocation_moves import ask_to_leave, live_allocation
from resolute.engine.platform import Platform
from resolute.engine.trials.moves import enqueue, finish_if_done, stop_trial
from resolute.engine.unit_of_work import Flow, flow


class _Unset:
    """Tells "not given" from None, where None is a value of its own."""


UNSET: Final = _Unset()


# ------------------------------------------------------------------------------------------------- state changes


def pause_experiment(platform: Platform, experiment_id: int) -> None:
    """Trials checkpoint and give their slots back. Pausing a paused experiment changes nothing."""
    with flow(platform) as current:
        experiment = current.tx.experiments.get(experiment_id)
        if experiment.state is ExperimentState.PAUSED:
            return
        _move(current, experiment, ExperimentState.PAUSED)
        for trial in current.tx.trials.of_experiment(experiment_id, unfinished_only=True):
            _pause_trial(current, trial)


def _pause_trial(current: Flow, trial: Trial) -> None:
    if trial.state is not TrialState.ACTIVE:
        return
    current.move(trial, trial.moved_to(TrialState.PAUSED, now=current.now))
    allocation = live_allocation(current, trial.task_id)
    if allocation is not None:
        ask_to_leave(current, allocation)


def activate_experiment(platform: Platform, experiment_id: int) -> None:
    """Trials go back to the queue and on from their latest checkpoints."""
    with flow(platform) as current:
        experiment = current.tx.experiments.get(experiment_id)
        if experiment.state is ExperimentState.ACTIVE:
            return
        if experiment.is_finished:
            raise IllegalTransition(
                f"Experiment {experiment_id} is {experiment.state}; only a paused one can be activated. "
                f"To train it further use `resolute experiment continue {experiment_id}`."
            )
        experiment = _move(current, experiment, ExperimentState.ACTIVE)
        for trial in current.tx.trials.of_experiment(experiment_id, unfinished_only=True):
            if trial.state is not TrialState.PAUSED:
                continue
            trial = current.move(trial, trial.moved_to(TrialState.ACTIVE, now=current.now))
            # One still on its way out is queued again when its processes have ended.
            if not trial.is_waiting and live_allocation(current, trial.task_id) is None:
                enqueue(current, experiment, trial)
        current.publish("engine")


def cancel_experiment(platform: Platform, experiment_id: int) -> None:
    """Stop for good; running trials checkpoint first."""
    _stop(platform, experiment_id, ExperimentState.STOPPING_CANCELED, TrialState.STOPPING_CANCELED)


def kill_experiment(platform: Platform, experiment_id: int) -> None:
    """Stop for good and at once; what was not checkpointed is lost."""
    _stop(platform, experiment_id, ExperimentState.STOPPING_KILLED, TrialState.STOPPING_KILLED)


def _stop(platform: Platform, experiment_id: int, state: ExperimentState, trial_state: TrialState) -> None:
    with flow(platform) as current:
        experiment = current.tx.experiments.get(experiment_id)
        if experiment.is_finished or experiment.state in (state, ExperimentState.STOPPING_KILLED):
            return
        experiment = _move(current, experiment, state)
        for trial in current.tx.trials.of_experiment(experiment_id, unfinished_only=True):
            if trial.state is not TrialState.STOPPING_KILLED:
                stop_trial(current, trial, trial_state, reason="The experiment was stopped by a user.")
        finish_if_done(current, experiment)


def _move(current: Flow, experiment: Experiment, state: ExperimentState) -> Experiment:
    current.publish("engine")
    return current.move(experiment, experiment.moved_to(state, now=current.now))


# -------------------------------------------------------------------------------------------------- other changes


def archive_experiment(platform: Platform, experiment_id: int) -> None:
    _set_archived(platform, experiment_id, is_archived=True)


def unarchive_experiment(platform: Platform, experiment_id: int) -> None:
    _set_archived(platform, experiment_id, is_archived=False)


def _set_archived(platform: Platform, experiment_id: int, *, is_archived: bool) -> None:
    def change(experiment: Experiment) -> Experiment:
        if not experiment.is_finished:
            raise IllegalTransition(
                f"Experiment {experiment_id} is {experiment.state}; only a finished one can be archived. "
                "Cancel or kill it first."
            )
        return replace(experiment, archived=is_archived)

    _change(platform, experiment_id, change)


def move_experiment(platform: Platform, experiment_id: int, project_id: int) -> None:
    with platform.store.read() as tx:
        project = tx.workspaces.project(project_id)
        project.require_open(tx.workspaces.get(project.workspace_id))
    _change(
        platform,
        experiment_id,
        lambda experiment: replace(experiment, project_id=project_id),
        lambda job: replace(job, workspace_id=project.workspace_id),
    )


def _change(
    platform: Platform,
    experiment_id: int,
    change: Callable[[Experiment], Experiment],
    change_job: Callable[[Job], Job] | None = None,
) -> Experiment:
    with flow(platform) as current:
        stored = current.tx.experiments.get(experiment_id)
        if change_job is not None:
            job = current.tx.jobs.get(stored.job_id)
            current.change(job, change_job(job))
        current.publish("engine", "queue")
        return current.change(stored, change(stored))


class ExperimentFields(TypedDict, total=False):
    """What of an experiment people change; the configuration says the same of all but the notes."""

    name: str
    description: str
    labels: tuple[str, ...]
    notes: str


class JobFields(TypedDict, total=False):
    priority: int
    weight: float
    max_slots: int | None


def patch_experiment(
    platform: Platform,
    experiment_id: int,
    *,
    name: str | None = None,
    description: str | None = None,
    labels: Sequence[str] | None = None,
    notes: str | None = None,
    priority: int | None = None,
    weight: float | None = None,
    max_slots: int | _Unset | None = UNSET,
    gc_policy: RetentionPolicy | None = None,
) -> Experiment:
    """Change what may be changed while it runs. A new retention policy is applied at once."""
    _check_patch(name, priority, weight, max_slots)
    fields = ExperimentFields()
    if name is not None:
        fields["name"] = name
    if description is not None:
        fields["description"] = description
    if labels is not None:
        fields["labels"] = tuple(dict.fromkeys(labels))
    if notes is not None:
        fields["notes"] = notes
    of_job = JobFields()
    if priority is not None:
        of_job["priority"] = priority
    if weight is not None:
        of_job["weight"] = weight
    if not isinstance(max_slots, _Unset):
        of_job["max_slots"] = max_slots

    def change(experiment: Experiment) -> Experiment:
        config = _patched_config(with_resources(experiment.config, of_job), fields, gc_policy)
        if config != experiment.config:
            # What is stored can be read again, so a name or label beyond the limits is refused here.
            checked(config)
        return replace(experiment, config=config, **fields)

    def change_job(job: Job) -> Job:
        return replace(job, **of_job, name=fields.get("name", job.name))

    experiment = _change(platform, experiment_id, change, change_job)
    if gc_policy is not None:
        platform.to_collect.put(experiment_id)
    return experiment


def record_in_experiment(flow: Flow, job: Job, changes: Mapping[str, object]) -> None:
    """What was changed in the queue, so that the configuration says what is in force."""
    experiment = flow.tx.experiments.get(int(job.entity_id))
    config = with_resources(experiment.config, changes)
    checked(config)
    flow.tx.experiments.save(replace(experiment, config=config))
    flow.publish(f"experiment/{experiment.id}")


def _check_patch(name: str | None, priority: int | None, weight: float | None, max_slots: object) -> None:
    if name is not None and not name.strip():
        raise InvalidInput("name: an experiment's name cannot be empty.")
    if priority is not None:
        check_priority(priority)
    if weight is not None:
        check_weight(weight)
    if isinstance(max_slots, int) and max_slots < 0:
        raise InvalidInput(f"resources.max_slots: {max_slots} must not be negative.")


def with_resources(config: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, object]:
    """The configuration with other `resources`, so that it says what is in force."""
    return {**config, "resources": {**_section(config, "resources"), **changes}}


def _section(config: Mapping[str, object], name: str) -> Mapping[str, object]:
    section = config.get(name)
    return section if isinstance(section, dict) else {}


def _patched_config(
    config: dict[str, object], fields: ExperimentFields, gc_policy: RetentionPolicy | None
) -> dict[str, object]:
    patched = {**config}
    if "name" in fields:
        patched["name"] = fields["name"]
    if "description" in fields:
        patched["description"] = fields["description"]
    if "labels" in fields:
        patched["labels"] = list(fields["labels"])
    if gc_policy is not None:
        patched["checkpoint_storage"] = {
            **_section(config, "checkpoint_storage"),
            "save_experiment_best": gc_policy.save_experiment_best,
            "save_trial_best": gc_policy.save_trial_best,
            "save_trial_latest": gc_policy.save_trial_latest,
        }
    return patched


def delete_experiment(platform: Platform, experiment_id: int) -> None:
    """Remove a finished experiment with its checkpoints' files, logs and metrics. Files first, rows last, so that a
    crash half-way leaves something that can be deleted again."""
    with flow(platform) as current:
        tx = current.tx
        experiment = tx.experiments.get(experiment_id)
        if experiment.state is not ExperimentState.DELETING:
            if not experiment.is_finished and experiment.state is not ExperimentState.DELETE_FAILED:
                raise IllegalTransition(
                    f"Experiment {experiment_id} is {experiment.state}; kill it before deleting it: "
                    f"`resolute experiment kill {experiment_id}`."
                )
            refuse_registered(tx, [checkpoint.uuid for checkpoint in tx.checkpoints.of_experiment(experiment_id)])
            current.move(experiment, experiment.moved_to(ExperimentState.DELETING, now=current.now))
        checkpoints = tx.checkpoints.of_experiment(experiment_id)
        used = tx.checkpoints.in_use(experiment_id)
        trials = tx.trials.of_experiment(experiment_id)
    try:
        for checkpoint in checkpoints:
            if checkpoint.storage and checkpoint.uuid not in used and checkpoint.state is not CheckpointState.DELETED:
                platform.blobs(checkpoint.storage).remove(checkpoint.uuid)
        remove_tensorboard_files(platform, experiment)
        for trial in trials:
            platform.logs.remove(trial.task_id)
    except ResoluteError:
        with flow(platform) as current:
            _move(current, current.tx.experiments.get(experiment_id), ExperimentState.DELETE_FAILED)
        raise
    with flow(platform) as current:
        current.remove(current.tx.experiments.get(experiment_id))


def kill_trial(platform: Platform, trial_id: int) -> None:
    """Stop one trial at once. The rest of the experiment goes on."""
    with flow(platform) as current:
        trial = current.tx.trials.get(trial_id)
        stopped = stop_trial(current, trial, TrialState.STOPPING_KILLED, reason="It was killed by a user.")
        if stopped.is_finished and not trial.is_finished:
            feed(current, current.tx.experiments.get(trial.experiment_id), closing_event(stopped))
