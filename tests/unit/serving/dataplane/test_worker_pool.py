"""Model processes are kept alive, with pauses that grow, and the pool knows why a model cannot answer."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.errors import Unavailable
from resolute.serving.batching import Answers, Batcher
from resolute.serving.metrics import ModelMetrics, ServerMetrics
from resolute.serving.model import ModelMetadata
from resolute.serving.settings import Limits, ModelSettings
from resolute.serving.worker_frames import Buffer, Call
from resolute.serving.worker_pool import WorkerPool, next_pause_s
from resolute.serving.worker_process import LoadRefused

SETTINGS = ModelSettings(name="m", source=Path("here"))


class ScriptedProcess:
    """Starts as the next line of the script says, and ends when the test says."""

    script: list[Exception | None] = []  # noqa: RUF012
    made: list["ScriptedProcess"] = []  # noqa: RUF012

    def __init__(self, settings: ModelSettings) -> None:
        self._ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.is_stopped = False
        self.made.append(self)

    @property
    def ended(self) -> "asyncio.Future[str]":
        return self._ended

    async def start(self) -> ModelMetadata:
        problem = self.script.pop(0) if self.script else None
        if problem is not None:
            raise problem
        return ModelMetadata(platform="scripted")

    def run(self, call: Call, buffers: list[Buffer]) -> "asyncio.Future[Answers]":
        raise AssertionError("no test calls it")

    def give_up(self, reason: str) -> None:
        self._ended.set_result(reason)

    async def stop(self) -> None:
        self.is_stopped = True


def pool(*script: Exception | None) -> WorkerPool:
    ScriptedProcess.script = list(script)
    ScriptedProcess.made = []
    metrics = ModelMetrics(ServerMetrics(), "m")
    return WorkerPool(SETTINGS, Batcher(Limits(), metrics), metrics, ScriptedProcess)


@pytest.mark.parametrize(
    ("pause_s", "lived_s", "then"),
    [(0, 0, 0.1), (0.1, 0, 0.2), (0.2, 5, 0.4), (20, 1, 30), (30, 1, 30), (30, 60, 0.1)],
)
def test_pauses_double_up_to_half_a_minute_and_a_good_life_is_remembered(
    pause_s: float, lived_s: float, then: float
) -> None:
    assert next_pause_s(pause_s, lived_s=lived_s) == then


def test_a_model_is_ready_when_a_process_has_loaded_it(serving: Any) -> None:
    async def test() -> None:
        ours = pool()
        assert not ours.is_ready

        ours.start()
        ours.start()
        await ours.settled()

        assert (ours.is_ready, len(ScriptedProcess.made)) == (True, 1)
        assert ours.metadata == ModelMetadata(platform="scripted")
        await ours.stop()
        assert (ours.is_ready, ours.reason) == (False, "it is not loaded")
        assert ScriptedProcess.made[0].is_stopped

    serving.run(test)


def test_a_refusal_is_final_and_its_sentence_is_kept(serving: Any) -> None:
    async def test() -> None:
        ours = pool(LoadRefused("It has no weights.", is_final=True))

        ours.start()
        await ours.settled()
        await serving.settle()

        assert (ours.is_ready, ours.is_refused, ours.reason) == (False, True, "It has no weights.")
        assert len(ScriptedProcess.made) == 1

    serving.run(test)


def test_what_may_pass_is_tried_again(serving: Any) -> None:
    async def test() -> None:
        ours = pool(LoadRefused("CUDA is out of memory.", is_final=False), Unavailable("The model process ended."))

        ours.start()
        await ours.settled()

        assert ours.is_ready
        assert len(ScriptedProcess.made) == 3
        await ours.stop()

    serving.run(test)


def test_a_process_that_dies_makes_the_model_unready_until_the_next_has_loaded_it(serving: Any) -> None:
    async def test() -> None:
        ours = pool()
        ours.start()
        await ours.settled()

        ScriptedProcess.made[0].give_up("SIGSEGV")
        await serving.settle()
        assert (ours.is_ready, ours.reason) == (False, "its process ended (SIGSEGV) and is being restarted")
        await ours.settled()

        assert ours.is_ready
        assert len(ScriptedProcess.made) == 2
        await ours.stop()

    serving.run(test)


def test_an_unloaded_model_can_be_loaded_again(serving: Any) -> None:
    async def test() -> None:
        ours = pool()
        ours.start()
        await ours.settled()
        await ours.stop()

        ours.start()
        await ours.settled()

        assert ours.is_ready
        await ours.stop()

    serving.run(test)
