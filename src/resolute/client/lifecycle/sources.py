"""Which files a deployment serves: a version of the registry or a folder put together for it."""

import tempfile
from pathlib import Path

from resolute.client.lifecycle.config import Config, default_storage
from resolute.client.lifecycle.definition import Definition
from resolute.client.lifecycle.faults import ModelDeploymentException, UnsupportedModelDeploymentException
from resolute.client.lifecycle.files import assemble, check_servable, digest_of, serving_parts
from resolute.client.lifecycle.framework import ModelFramework
from resolute.client.lifecycle.record import ModelRecord
from resolute.client.lifecycle.rollout import Source
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
    if saved is None and not model_uri:
        raise ModelDeploymentException(
            f"Model {definition.id} has no saved model yet. Call train() or tune(), or give model_uri."
        )
    if definition.framework is ModelFramework.PYTORCH and (saved is not None or definition.serving_config):
        check_servable(definition)
    if saved is not None and saved.serving_digest == serving_parts(definition, config.base_dir).digest:
        return Source(model=saved.registered)
    return Source(model_uri=_assembled(definition, config, saved.uri if saved else str(model_uri)))


def _assembled(definition: Definition, config: Config, uri: str) -> str:
    """`<id>/deploy/<hash>`: the weights and the serving files, in a folder that the master must see."""
    storage = ModelStorage(config, definition.id)
    nearby = storage
    if local_path(storage.base) is None:
        nearby = ModelStorage(Config(base_model_storage_uri=default_storage()), definition.id)
    parts = serving_parts(definition, config.base_dir)
    with storage.fetched(uri) as weights, tempfile.TemporaryDirectory(prefix="resolute-model-") as temporary:
        assemble(Path(temporary), weights, parts, config.base_dir)
        return str(local_path(nearby.put(DEPLOY, digest_of(Path(temporary)), Path(temporary))))
