"""Registered models and their versions as messages."""

from resolute.domain.model import Model, ModelVersion
from resolute.engine.ports.queries import CheckpointView
from resolute.server.shapes.checkpoints import checkpoint_message
from resolute.spec.wire import registry as wire
from resolute.spec.wire.base import json_safe


def model_message(model: Model, *, username: str, num_versions: int) -> wire.Model:
    return wire.Model(
        id=model.id,
        name=model.name,
        description=model.description,
        metadata=json_safe(model.metadata),
        creation_time=model.creation_time,
        last_updated_time=model.last_updated_time,
        num_versions=num_versions,
        labels=list(model.labels),
        username=username,
        user_id=model.user_id,
        workspace_id=model.workspace_id,
        archived=model.archived,
        notes=model.notes,
    )


def version_message(
    version: ModelVersion, model: wire.Model, checkpoint: CheckpointView, *, username: str
) -> wire.ModelVersion:
    return wire.ModelVersion(
        id=version.id,
        model=model,
        version=version.version,
        checkpoint=checkpoint_message(checkpoint),
        creation_time=version.creation_time,
        last_updated_time=version.last_updated_time,
        name=version.name,
        comment=version.comment,
        notes=version.notes,
        labels=list(version.labels),
        metadata=json_safe(version.metadata),
        user_id=version.user_id,
        username=username,
        stage=version.stage,
    )
