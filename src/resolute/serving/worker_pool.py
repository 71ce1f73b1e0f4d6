"""The processes of one model: as many as asked for, restarted with growing pauses when they die.

Says whether the model can answer, and if not, why.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from resolute.domain.errors import Unavailable
from resolute.serving.batching import Batcher, Worker
from resolute.serving.metrics import ModelMetrics
from resolute.serving.model import ModelMetadata
from resolute.serving.settings import ModelSettings
from resolute.serving.worker_process import LoadRefused

_log = logging.getLogger("resolute.serving")
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 30.0
_GOOD_LIFE_S = 60.0
"""Who lived so long starts again without a pause worth mentioning."""


class ModelProcess(Worker, Protocol):
    """What the pool keeps alive; `worker_process.WorkerProcess` is the real one."""

    @property
    def ended(self) -> "asyncio.Future[str]":
        """Done when it has gone, with the reason."""

    async def start(self) -> ModelMetadata:
        """Until the model is loaded. Raises LoadRefused with its sentence, or Unavailable when the process died."""

    async def stop(self) -> None: ...


Spawn = Callable[[ModelSettings], ModelProcess]


def next_pause_s(pause_s: float, *, lived_s: float) -> float:
    """How long to wait before the next start."""
    if lived_s >= _GOOD_LIFE_S or pause_s == 0:
        return _FIRST_PAUSE_S
    return min(pause_s * 2, _LONGEST_PAUSE_S)


class WorkerPool:
    """Feeds `batcher` with workers that can answer."""

    def __init__(self, settings: ModelSettings, batcher: Batcher, metrics: ModelMetrics, spawn: Spawn) -> None:
        self.metadata: ModelMetadata | None = None
        self.reason = "it is not loaded"
        """Why it is not ready."""
        self.is_refused = False
        """It can never be served: its loader said so."""
        self._settings = settings
        self._batcher = batcher
        self._metrics = metrics
        self._spawn = spawn
        self._ready: set[ModelProcess] = set()
        self._keepers: list[asyncio.Task[None]] = []
        self._changed = asyncio.Event()

    @property
    def is_ready(self) -> bool:
        return bool(self._ready)

    def start(self) -> None:
        """Returns at once; loading goes on behind. Starting what is started does nothing."""
        if any(not keeper.done() for keeper in self._keepers):
            return
        self.reason, self.is_refused = "it is being loaded", False
        loop = asyncio.get_running_loop()
        self._keepers = [loop.create_task(self._keep()) for _ in range(self._settings.workers)]

    async def stop(self) -> None:
        self.reason = "it is not loaded"
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        self._keepers = []
        self._batcher.fail_all(f"Model {self._settings.name} was unloaded.")

    async def settled(self) -> None:
        """Until it is ready, or refused for good."""
        while not (self.is_ready or self.is_refused):
            self._changed.clear()
            await self._changed.wait()

    async def _keep(self) -> None:
        """One process after the other in this place."""
        pause_s = 0.0
        loop = asyncio.get_running_loop()
        while True:
            started = loop.time()
            worker = self._spawn(self._settings)
            try:
                await self._live(worker)
            except LoadRefused as refusal:
                self._refused(str(refusal), is_final=refusal.is_final)
                if refusal.is_final:
                    return
            except Unavailable as problem:
                self._refused(str(problem), is_final=False)
            finally:
                self._lost(worker)
                await worker.stop()
            pause_s = next_pause_s(pause_s, lived_s=loop.time() - started)
            self._metrics.restarted()
            await asyncio.sleep(pause_s)

    async def _live(self, worker: ModelProcess) -> None:
        """From its start to its end. Returns the way it died."""
        started = asyncio.get_running_loop().time()
        self.metadata = await worker.start()
        self._ready.add(worker)
        self._batcher.add(worker)
        self._notify()
        seconds = asyncio.get_running_loop().time() - started
        _log.info("Model %s is ready after %.2f s.", self._settings.name, seconds)
        # Shielded: to stop keeping a process is not to stop waiting for its end.
        reason = await asyncio.shield(worker.ended)
        self.reason = f"its process ended ({reason}) and is being restarted"
        _log.warning("The process of model %s ended: %s. Restarting it.", self._settings.name, reason)

    def _lost(self, worker: ModelProcess) -> None:
        self._ready.discard(worker)
        self._batcher.remove(worker)
        self._notify()

    def _refused(self, message: str, *, is_final: bool) -> None:
        self.reason, self.is_refused = message, is_final
        _log.error("Model %s cannot be loaded: %s", self._settings.name, message)
        if not self._ready:
            self._batcher.fail_all(f"Model {self._settings.name} cannot be loaded: {message}")
        self._notify()

    def _notify(self) -> None:
        self._metrics.ready.set(len(self._ready))
        self._changed.set()
