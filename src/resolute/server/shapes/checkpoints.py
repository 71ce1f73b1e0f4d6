"""Checkpoints as messages."""

from resolute.domain.checkpoint import Checkpoint
from resolute.engine.ports.queries import CheckpointView
from resolute.spec.secrets import without_storage_keys
from resolute.spec.wire import checkpoints as wire
from resolute.spec.wire.base import json_safe
from resolute.spec.wire.enums import CheckpointState
from resolute.spec.wire.metrics import Metrics
from resolute.spec.wire.trials import CheckpointWorkload


def checkpoint_message(view: CheckpointView) -> wire.Checkpoint:
    checkpoint = view.checkpoint
    return wire.Checkpoint(
        uuid=checkpoint.uuid,
        task_id=checkpoint.task_id,
        allocation_id=checkpoint.allocation_id,
        report_time=checkpoint.report_time,
        resources=checkpoint.resources,
        metadata=metadata_of(checkpoint),
        state=state_of(checkpoint),
        digests=checkpoint.digests,
        training=wire.CheckpointTrainingMetadata(
            trial_id=checkpoint.trial_id,
            experiment_id=checkpoint.experiment_id,
            experiment_config=None if view.experiment_config is None else without_storage_keys(view.experiment_config),
            hparams=view.hparams,
            training_metrics=Metrics(avg_metrics=json_safe(view.training_metrics)),
            validation_metrics=Metrics(avg_metrics=json_safe(view.validation_metrics)),
            searcher_metric=view.searcher_metric,
        ),
    )


def checkpoint_workload(checkpoint: Checkpoint) -> CheckpointWorkload:
    return CheckpointWorkload(
        uuid=checkpoint.uuid,
        end_time=checkpoint.report_time,
        state=state_of(checkpoint),
        resources=checkpoint.resources,
        total_batches=checkpoint.steps_completed,
        metadata=metadata_of(checkpoint),
    )


def previewed(view: CheckpointView) -> wire.PreviewedCheckpoint:
    checkpoint = view.checkpoint
    return wire.PreviewedCheckpoint(
        TrialID=checkpoint.trial_id or 0,
        StepsCompleted=checkpoint.steps_completed,
        State=str(checkpoint.state),
        ValidationMetrics=json_safe(view.validation_metrics),
        UUID=checkpoint.uuid,
        Resources=checkpoint.resources,
    )


def state_of(checkpoint: Checkpoint) -> CheckpointState:
    return CheckpointState(f"STATE_{checkpoint.state}")


def metadata_of(checkpoint: Checkpoint) -> dict[str, object]:
    """Clients print `steps_completed` out of the metadata, so it is always there."""
    metadata = json_safe({"steps_completed": checkpoint.steps_completed, **checkpoint.metadata})
    assert isinstance(metadata, dict)
    return metadata
