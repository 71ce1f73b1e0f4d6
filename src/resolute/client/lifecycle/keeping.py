"""What a run exported, brought into the model's storage and the registry."""

import shutil
import tempfile
from pathlib import Path

from resolute.client.checkpoint import Checkpoint
from resolute.client.client import Client
from resolute.client.lifecycle.contract import RECORDING, SECTION
from resolute.client.lifecycle.definition import Definition
from resolute.client.lifecycle.record import SavedModel
from resolute.client.lifecycle.storage import ModelStorage
from resolute.client.models import Model as RegisteredModel
from resolute.domain.errors import NotFound


def keep(
    client: Client, storage: ModelStorage, definition: Definition, checkpoint: Checkpoint, *, kind: str, token: str
) -> SavedModel:
    """The exported files at `<id>/<kind>/<token>`; the checkpoint, with the code to serve it, as the next version."""
    facts = checkpoint.metadata.get(SECTION) or {}
    with tempfile.TemporaryDirectory(prefix="resolute-model-") as temporary:
        whole, exported = Path(temporary) / "checkpoint", Path(temporary) / "exported"
        checkpoint.download(whole)
        for name in facts.get("exported") or []:
            (exported / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(whole / name, exported / name)
        uri = storage.put(kind, token, exported)
    version = _registry_entry(client, definition).register_version(
        checkpoint, comment=f"{kind} {definition.version}", metadata={"uri": uri, **_facts(definition)}
    )
    return SavedModel(
        uri=uri,
        kind=kind,
        checkpoint=checkpoint.uuid,
        registered=f"{definition.service}/{version.version}",
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
