"""What a model server does, whichever transport asks: predict, explain, infer, describe, load, unload.

Values in and out, errors of `domain.errors` raised. HTTP and gRPC are shells around it.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from resolute.domain.errors import NotFound, Unavailable
from resolute.serving.batching import Batcher, Reply
from resolute.serving.metrics import ModelMetrics, ServerMetrics
from resolute.serving.model import ModelMetadata, TensorSpec
from resolute.serving.protocol.v1 import Instances
from resolute.serving.protocol.v2 import InferRequest
from resolute.serving.settings import Limits, ModelSettings
from resolute.serving.worker_frames import Buffer, Item
from resolute.serving.worker_pool import Spawn, WorkerPool
from resolute.serving.worker_process import WorkerProcess
from resolute.version import __version__

SERVER_NAME = "resolute"
EXTENSIONS = ("binary_tensor_data", "model_repository", "model_configuration", "statistics")


class ServedModel:
    """One model with its queue and its processes."""

    def __init__(self, settings: ModelSettings, limits: Limits, metrics: ServerMetrics, spawn: Spawn) -> None:
        self.settings = settings
        own = ModelMetrics(metrics, settings.name)
        self.statistics = own.statistics
        self.batcher = Batcher(limits, own)
        self.pool = WorkerPool(settings, self.batcher, own, spawn)

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def why_not_ready(self) -> str:
        """Empty when it can answer."""
        return "" if self.pool.is_ready else f"Model {self.name} is not ready: {self.pool.reason}"


class DataPlane:
    """All models of one server. Runs on one event loop."""

    def __init__(self, models: Sequence[ModelSettings], limits: Limits, *, spawn: Spawn = WorkerProcess) -> None:
        self.limits = limits
        self.metrics = ServerMetrics()
        self.models = {settings.name: ServedModel(settings, limits, self.metrics, spawn) for settings in models}
        self._by_alias = {alias: self.models[each.name] for each in models for alias in each.aliases}
        self.is_draining = False
        self._in_flight = 0
        self.metrics.in_flight.set_function(lambda: self._in_flight)

    def start(self) -> None:
        for model in self.models.values():
            model.pool.start()

    async def stop(self) -> None:
        await asyncio.gather(*(model.pool.stop() for model in self.models.values()))

    @property
    def why_not_ready(self) -> str:
        """Empty when every model can answer and the server is not on its way out."""
        if self.is_draining:
            return "The server is shutting down."
        return " ".join(model.why_not_ready for model in self.models.values() if model.why_not_ready)

    @property
    def names(self) -> list[str]:
        """All that models answer to."""
        return list(dict.fromkeys((*self.models, *self._by_alias)))

    def model(self, name: str, version: str | None = None) -> ServedModel:
        """Raises NotFound with the names, or versions, that there are."""
        model = self.models.get(name) or self._by_alias.get(name)
        if model is None:
            raise NotFound(f"There is no model {name!r} here; there is: {', '.join(self.names) or 'none'}.")
        if version is not None and version != model.settings.version:
            raise NotFound(f"Model {name} has no version {version!r} here; there is: {model.settings.version}.")
        return model

    async def predict(self, name: str, verb: str, instances: Instances) -> Reply:
        """V1. `verb` is `predict` or `explain`; the reply has one buffer, the JSON array of the answers."""
        model = _ready(self.model(name))
        return await self._submit(model, verb, Item(instances=instances.count), [instances.json])

    async def handle(self, name: str, version: str | None, item: Item, buffers: list[Buffer], *, verb: str) -> Reply:
        """A request as it came, for a model that takes those. `verb` is `predict` or `explain`; the reply has one
        buffer, and its outcome the status, type and headers that the handler chose."""
        model = _ready(self.model(name, version))
        return await self._submit(model, "handle_explain" if verb == "explain" else "handle", item, buffers)

    def takes_requests(self, name: str, version: str | None = None) -> bool:
        """Raises Unavailable while the model is not loaded: only it knows."""
        metadata = _ready(self.model(name, version)).pool.metadata
        return metadata is not None and metadata.takes_requests

    async def infer(self, name: str, version: str | None, request: InferRequest) -> Reply:
        """V2. The reply has a buffer for each tensor of its outcome."""
        model = _ready(self.model(name, version))
        return await self._submit(model, "infer", request.item, request.buffers)

    async def _submit(self, model: ServedModel, verb: str, item: Item, buffers: list[Buffer]) -> Reply:
        self._in_flight += 1
        started, is_good = time.perf_counter(), False
        try:
            reply = await model.batcher.submit(verb, item, buffers)
            is_good = True
            return reply
        finally:
            self._in_flight -= 1
            model.statistics.request_done(time.perf_counter() - started, is_good=is_good)

    def server_metadata(self) -> dict[str, Any]:
        return {"name": SERVER_NAME, "version": __version__, "extensions": list(EXTENSIONS)}

    def model_metadata(self, name: str, version: str | None = None) -> dict[str, Any]:
        """As V2 shows it. Known once the model has been loaded; Unavailable before."""
        model = self.model(name, version)
        metadata = model.pool.metadata
        if metadata is None:
            raise Unavailable(model.why_not_ready)
        return {
            "name": name,
            "versions": [model.settings.version],
            "platform": metadata.platform,
            "inputs": _tensors(metadata.inputs),
            "outputs": _tensors(metadata.outputs),
            **_extra(metadata),
        }

    def model_config(self, name: str, version: str | None = None) -> dict[str, Any]:
        """As Triton shows it."""
        described = self.model_metadata(name, version)
        return {
            "name": described["name"],
            "platform": described["platform"],
            "backend": "python",
            "max_batch_size": 0,
            "input": [_configured(each) for each in described["inputs"]],
            "output": [_configured(each) for each in described["outputs"]],
        }

    def statistics(self, name: str | None = None, version: str | None = None) -> list[dict[str, Any]]:
        """Of one model, or of all."""
        models = list(self.models.values()) if name is None else [self.model(name, version)]
        return [model.statistics.shown(model.name, model.settings.version) for model in models]

    def index(self) -> list[dict[str, str]]:
        """The repository's models, as `POST /v2/repository/index` lists them."""
        return [
            {
                "name": model.name,
                "version": model.settings.version,
                "state": "UNAVAILABLE" if model.why_not_ready else "READY",
                "reason": model.why_not_ready,
            }
            for model in self.models.values()
        ]

    async def load(self, name: str) -> None:
        """Until it can answer; raises Unavailable with the reason when it never will."""
        model = self.model(name)
        model.pool.start()
        await model.pool.settled()
        _ready(model)

    async def unload(self, name: str) -> None:
        await self.model(name).pool.stop()


def _ready(model: ServedModel) -> ServedModel:
    if model.why_not_ready:
        raise Unavailable(model.why_not_ready)
    return model


def _tensors(specs: Sequence[TensorSpec]) -> list[dict[str, Any]]:
    return [{"name": spec.name, "datatype": spec.datatype, "shape": list(spec.shape)} for spec in specs]


def _configured(described: dict[str, Any]) -> dict[str, Any]:
    kind = "STRING" if described["datatype"] == "BYTES" else described["datatype"]
    return {"name": described["name"], "data_type": f"TYPE_{kind}", "dims": described["shape"]}


def _extra(metadata: ModelMetadata) -> dict[str, Any]:
    return {"parameters": metadata.extra} if metadata.extra else {}
