"""What a run exported, brought into the model's storage and the registry."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resolute.client.checkpoint import Checkpoint
from resolute.client.client import Client
from resolute.client.lifecycle.contract import RECORDING, SECTION
from resolute.client.lifecycle.definition import Definition
from resolute.client.lifecycle.record import SavedModel
from resolute.client.lifecycle.storage import TRAINED, ModelStorage
from resolute.client.models import Model as RegisteredModel
from resolute.domain.errors import NotFound

REGISTRY = "registry://"
"""Before the name and version of a model that has no storage but the master's."""


def save_exported(
    client: Client, storage: ModelStorage, definition: Definition, checkpoint: Checkpoint, *, kind: str, token: str
) -> SavedModel:
    """The checkpoint, with the code to serve it, as the next version; where the model has a storage of its own, the
    exported files at `<id>/<kind>/<token>` there."""
    uri = ""
    if storage.is_wanted:
        with exported_files(checkpoint) as exported:
            uri = storage.put(kind, token, exported)
    version = _registry_entry(client, definition).register_version(
        checkpoint,
        comment=f"{kind} {definition.version}",
        metadata={"uri": uri, "kind": kind, **_facts(definition)},
    )
    registered = f"{definition.service}/{version.version}"
    return _saved(checkpoint, registered, kind=kind, uri=uri)


def registered_models(client: Client, definition: Definition) -> list[SavedModel]:
    """What the registry knows of the model, whoever saved it; oldest first."""
    try:
        versions = client.models.get(definition.service).versions()
    except NotFound:
        return []
    own = [each for each in versions if each.metadata.get("id") == definition.id]
    return [
        _saved(
            each.checkpoint,
            f"{definition.service}/{each.version}",
            kind=str(each.metadata.get("kind") or TRAINED),
            uri=str(each.metadata.get("uri") or ""),
        )
        for each in sorted(own, key=lambda version: version.version)
    ]


@contextmanager
def exported_files(checkpoint: Checkpoint) -> Iterator[Path]:
    """What the trainer exported, in a folder of this machine."""
    facts = checkpoint.metadata.get(SECTION) or {}
    with tempfile.TemporaryDirectory(prefix="resolute-model-") as temporary:
        whole, exported = Path(temporary) / "checkpoint", Path(temporary) / "exported"
        checkpoint.download(whole)
        exported.mkdir()
        for name in facts.get("exported") or []:
            (exported / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(whole / name, exported / name)
        yield exported


def _saved(checkpoint: Checkpoint, registered: str, *, kind: str, uri: str) -> SavedModel:
    facts = checkpoint.metadata.get(SECTION) or {}
    return SavedModel(
        uri=uri or f"{REGISTRY}{registered}",
        kind=kind,
        checkpoint=checkpoint.uuid,
        registered=registered,
        experiment_id=int(checkpoint.experiment_id or 0),
        serving_digest=str(facts.get("serving_digest") or ""),
    )


def metrics_of(checkpoint: Checkpoint) -> dict[str, float]:
    values = checkpoint.validation_metrics
    return {name: float(value) for name, value in values.items() if name != RECORDING and _is_number(value)}


def _registry_entry(client: Client, definition: Definition) -> RegisteredModel:
    try:
        return client.models.get(definition.service)
    except NotFound:
        return client.models.create(
            definition.service,
            description=definition.description,
            labels=[SECTION],
            metadata={"id": definition.id, "name": definition.name},
        )


def _facts(definition: Definition) -> dict[str, str]:
    return {
        "id": definition.id,
        "version": definition.version,
        "framework": definition.framework.value,
        "framework_version": definition.framework_version,
    }


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
