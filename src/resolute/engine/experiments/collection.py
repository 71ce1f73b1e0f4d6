"""Checkpoints that the retention policy, or a user, no longer wants: which they are, and their removal.

Files go first and the row after, so that a crash in between removes the same files again, never too few.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.errors import IllegalTransition, ResoluteError
from resolute.domain.experiment import FINISHED, Experiment
from resolute.domain.retention import Retained, RetentionPolicy, to_delete
from resolute.engine.experiments.configuration import configuration_of, retention_of
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import CheckpointQuery, CheckpointView
from resolute.engine.registry.models import names_of_versions
from resolute.engine.unit_of_work import flow

log = logging.getLogger(__name__)


def preview_gc(platform: Platform, experiment_id: int, policy: RetentionPolicy) -> list[CheckpointView]:
    """What the policy would delete right now. Nothing is touched."""
    with platform.store.read() as tx:
        return _doomed(tx, tx.experiments.get(experiment_id), policy)


def _doomed(tx: Transaction, experiment: Experiment, policy: RetentionPolicy) -> list[CheckpointView]:
    query = CheckpointQuery(
        experiment_id=experiment.id, states=(CheckpointState.COMPLETED, CheckpointState.PARTIALLY_DELETED)
    )
    views = {view.checkpoint.uuid: view for view in tx.checkpoints.search(query).items}
    used = tx.checkpoints.in_use(experiment.id)
    retained = [
        Retained(
            uuid=uuid,
            trial_id=view.checkpoint.trial_id or 0,
            steps_completed=view.checkpoint.steps_completed,
            metric=view.searcher_metric,
            in_use=uuid in used,
        )
        for uuid, view in views.items()
    ]
    return [views[u] for u in to_delete(retained, policy=policy, smaller_is_better=experiment.smaller_is_better)]


def collect(platform: Platform, experiment_id: int) -> int:
    """Apply an experiment's policy. Running trials' latest checkpoints are always kept. Returns how many went."""
    with platform.store.read() as tx:
        experiment = tx.experiments.get(experiment_id)
        if experiment.unmanaged:
            return 0
        doomed = _doomed(tx, experiment, retention_of(configuration_of(experiment)))
        needed = {t.latest_checkpoint for t in tx.trials.of_experiment(experiment_id, unfinished_only=True)}
    gone = [view.checkpoint for view in doomed if view.checkpoint.uuid not in needed]
    for checkpoint in gone:
        _remove(platform, checkpoint)
    return len(gone)


def collect_pending(platform: Platform) -> None:
    """One pass over what asked to be looked at. A store that is away is logged; the next end of a trial asks again."""
    seen: set[int] = set()
    while not platform.to_collect.empty():
        seen.add(platform.to_collect.get())
    for experiment_id in seen:
        try:
            collect(platform, experiment_id)
        except ResoluteError as error:
            log.warning("checkpoints of experiment %s were not collected: %s", experiment_id, error)


def ask_after_restart(platform: Platform) -> None:
    """Look again at what ended in the last day: the master may have died before it collected."""
    since = platform.clock() - timedelta(days=1)
    with platform.store.read() as tx:
        for experiment in tx.experiments.in_states(FINISHED):
            if experiment.end_time is not None and experiment.end_time > since:
                platform.to_collect.put(experiment.id)


def delete_checkpoints(platform: Platform, uuids: Sequence[str]) -> None:
    """A user's wish. Refused as a whole when one of them is in use."""
    with platform.store.read() as tx:
        checkpoints = [tx.checkpoints.get(uuid) for uuid in uuids]
        refuse_registered(tx, uuids)
        for checkpoint in checkpoints:
            if checkpoint.experiment_id and checkpoint.uuid in tx.checkpoints.in_use(checkpoint.experiment_id):
                raise IllegalTransition(
                    f"Checkpoint {checkpoint.uuid} is served by a deployment, or a trial starts from it; "
                    "nothing was deleted."
                )
    for checkpoint in checkpoints:
        if checkpoint.state is not CheckpointState.DELETED:
            _remove(platform, checkpoint)


def remove_checkpoint_files(platform: Platform, uuids: Sequence[str], globs: Sequence[str]) -> None:
    """Delete the files that match; the checkpoint stays as far as something is left of it."""
    with platform.store.read() as tx:
        checkpoints = [tx.checkpoints.get(uuid) for uuid in uuids]
        refuse_registered(tx, uuids)
    for checkpoint in checkpoints:
        if checkpoint.state is not CheckpointState.DELETED:
            _remove(platform, checkpoint, globs)


def refuse_registered(tx: Transaction, uuids: Sequence[str]) -> None:
    """Raises IllegalTransition that names the model versions which hold one of these checkpoints."""
    names = names_of_versions(tx, uuids)
    if names:
        raise IllegalTransition(
            f"Some of these checkpoints are in the model registry and cannot be deleted: {', '.join(names)}. "
            "Nothing was deleted; delete those versions first."
        )


def forget_files(platform: Platform, uuid: str, resources: dict[str, int]) -> None:
    """The trial itself deleted files; `resources` is what it left."""
    with flow(platform) as current:
        checkpoint = current.tx.checkpoints.get(uuid)
        current.move(checkpoint, _reduced(checkpoint, resources), reason="Its trial deleted files.")


def _remove(platform: Platform, checkpoint: Checkpoint, globs: Sequence[str] = ("**/*",)) -> None:
    left: dict[str, int] = {}
    if checkpoint.storage:
        left = platform.blobs(checkpoint.storage).remove(checkpoint.uuid, globs)
    with flow(platform) as current:
        stored = current.tx.checkpoints.get(checkpoint.uuid)
        current.move(stored, _reduced(stored, left))


def _reduced(checkpoint: Checkpoint, left: dict[str, int]) -> Checkpoint:
    if not left:
        gone = (
            checkpoint if checkpoint.state is CheckpointState.DELETED else checkpoint.moved_to(CheckpointState.DELETED)
        )
        return replace(gone, resources={})
    if left == checkpoint.resources:
        return checkpoint
    return replace(checkpoint.moved_to(CheckpointState.PARTIALLY_DELETED), resources=left)
