"""Which files a deployment serves: a version of the registry or a folder put together for it."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resolute.client.lifecycle.config import Config, default_storage
from resolute.client.lifecycle.definition import Definition
from resolute.client.lifecycle.faults import ModelDeploymentException, UnsupportedModelDeploymentException
from resolute.client.lifecycle.files import assemble, check_servable, digest_of, serving_parts
from resolute.client.lifecycle.framework import ModelFramework
from resolute.client.lifecycle.record import ModelRecord, SavedModel
from resolute.client.lifecycle.rollout import Source
from resolute.client.lifecycle.saving import REGISTRY, exported_files, registered_models
from resolute.client.lifecycle.storage import DEPLOY, ModelStorage, local_path


def find_source(definition: Definition, record: ModelRecord, config: Config, model_uri: str | None) -> Source:
    """The newest saved model, or the one at `model_uri`: a saved one, a folder, a file, or a URL of an archive."""
    if not definition.framework.is_servable:
        raise UnsupportedModelDeploymentException(
            f"framework: {definition.framework.value} models are not served, as their files are code that would run on "
            "loading. Export the model to ONNX and use ModelFramework.ONNX."
        )
    if model_uri and model_uri.startswith(("http://", "https://")):
        return Source(model_uri=model_uri)
    saved = record.saved_at(model_uri) if model_uri else record.latest
    if saved is None:
        saved = _registered(definition, config, model_uri)
    if saved is None and not model_uri:
        raise ModelDeploymentException(
            f"Model {definition.id} has no saved model yet. Call train() or tune(), or give model_uri."
        )
    if definition.framework is ModelFramework.PYTORCH and (saved is not None or definition.serving_config):
        check_servable(definition)
    if saved is not None and saved.serving_digest == serving_parts(definition, config.base_dir).digest:
        return Source(model=saved.registered)
    return Source(model_uri=_assembled(definition, config, saved, str(model_uri)))


def _registered(definition: Definition, config: Config, model_uri: str | None) -> SavedModel | None:
    """The newest version, or the one saved at `model_uri`: a process that did not train it finds it all the same."""
    if model_uri and not model_uri.startswith(REGISTRY) and local_path(model_uri) is not None:
        return None
    known = registered_models(config.client, definition)
    wanted = [each for each in known if not model_uri or each.uri == model_uri.rstrip("/")]
    return wanted[-1] if wanted else None


@contextmanager
def _weights(storage: ModelStorage, config: Config, saved: SavedModel | None, uri: str) -> Iterator[Path]:
    if saved is None or not saved.uri.startswith(REGISTRY):
        with storage.fetched(saved.uri if saved else uri) as found:
            yield found
        return
    name, _, number = saved.registered.rpartition("/")
    with exported_files(config.client.models.get(name).version(int(number)).checkpoint) as found:
        yield found


def _assembled(definition: Definition, config: Config, saved: SavedModel | None, uri: str) -> str:
    """`<id>/deploy/<hash>`: the weights and the serving files, in a folder that the master must see."""
    storage = ModelStorage(config, definition.id)
    nearby = storage
    if local_path(storage.base) is None:
        nearby = ModelStorage(Config(base_model_storage_uri=default_storage()), definition.id)
    parts = serving_parts(definition, config.base_dir)
    with (
        _weights(storage, config, saved, uri) as weights,
        tempfile.TemporaryDirectory(prefix="resolute-model-") as temporary,
    ):
        assemble(Path(temporary), weights, parts, config.base_dir)
        return str(local_path(nearby.put(DEPLOY, digest_of(Path(temporary)), Path(temporary))))
