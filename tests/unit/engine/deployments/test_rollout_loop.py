"""The loop around the passes: it wakes, it listens to the router, it survives what goes wrong, it stops."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from resolute.domain.errors import Unavailable
from resolute.domain.routing import RouterCounts
from resolute.engine.deployments.rollouts import RolloutLoop
from resolute.serving.router.fake import FakeRouter


class SignallingRouter(FakeRouter):
    """Says when it was told or asked something; may refuse to start."""

    def __init__(self) -> None:
        super().__init__()
        self.told = threading.Event()
        self.asked = threading.Event()
        self.refusals = 0

    def ensure(self) -> None:
        if self.refusals:
            self.refusals -= 1
            raise Unavailable("no port is free")
        super().ensure()

    def publish(self, table: Any) -> None:
        super().publish(table)
        self.told.set()

    def counts(self, wait_s: float = 0.0) -> RouterCounts | None:
        self.asked.set()
        return super().counts(wait_s)


@pytest.fixture
def router() -> SignallingRouter:
    return SignallingRouter()


@pytest.fixture
def loop(stage: Any, router: SignallingRouter) -> Iterator[Callable[[], RolloutLoop]]:
    made: list[RolloutLoop] = []

    def start() -> RolloutLoop:
        made.append(RolloutLoop(stage.platform, router, requires_key=True))
        made[-1].start()
        return made[-1]

    yield start
    for each in made:
        each.stop()


def test_a_new_deployment_wakes_it(stage: Any, router: SignallingRouter, loop: Callable[[], RolloutLoop]) -> None:
    loop()

    stage.create()

    assert router.told.wait(10)
    assert router.table.requires_key is True
    assert router.asked.wait(10)


def test_without_deployments_the_router_is_left_alone(
    router: SignallingRouter, loop: Callable[[], RolloutLoop]
) -> None:
    running = loop()

    running.stop()

    assert (router.starts, router.tables) == (0, [])
    assert not router.asked.is_set()


def test_a_router_that_does_not_start_is_tried_again(
    stage: Any, router: SignallingRouter, loop: Callable[[], RolloutLoop]
) -> None:
    router.refusals = 1
    stage.create()

    loop()

    assert router.told.wait(10)


def test_stopping_ends_its_threads(stage: Any, loop: Callable[[], RolloutLoop]) -> None:
    stage.create()
    running = loop()

    running.stop()

    assert not any(thread.is_alive() for thread in running._threads)
