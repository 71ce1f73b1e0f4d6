"""Runners of a configuration become one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from resolute.domain.errors import InvalidInput
from resolute.domain.node import Node, Slot
from resolute.runners.composite import CompositeRunner
from resolute.runners.contract import until
from resolute.runners.engines import ENGINES, Engine, Surroundings, engine_options, open_runners
from resolute.runners.fake import FakeRunner
from resolute.spec.runners import RunnerConfig

FAR = Engine(open=lambda config, around: FakeRunner([Node("n", (Slot(0),), resource_pool="far")]))


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    return Surroundings(home=tmp_path, warm=False)


@pytest.fixture
def two(around: Surroundings) -> Iterator[CompositeRunner]:
    configs = [RunnerConfig("here", "local", {"slots": 3}), RunnerConfig("engine", "far")]
    runner = open_runners(configs, around, engines={**ENGINES, "far": FAR})
    yield runner
    runner.close(stop_gangs=True)


def test_this_machine_and_an_engine_are_driven_at_once(two: CompositeRunner) -> None:
    until(lambda: [pool.name for pool in two.pools()] == ["default", "far"])

    assert [len(node.slots) for node in two.nodes()] == [3, 1]


def test_two_runners_of_this_machine_are_refused(around: Surroundings) -> None:
    configs = [RunnerConfig("a", "local"), RunnerConfig("b", "local")]

    with pytest.raises(InvalidInput, match="a and b are both of type local"):
        open_runners(configs, around)


@pytest.mark.parametrize("slots", [-1, "2", True, 1.5])
def test_an_option_of_the_wrong_kind_is_refused_with_its_place(around: Surroundings, slots: object) -> None:
    with pytest.raises(InvalidInput, match=r"runners\.here\.slots: .* is not a number of slots"):
        open_runners([RunnerConfig("here", "local", {"slots": slots})], around)


def test_the_options_of_every_type_are_known_to_who_reads_the_section() -> None:
    assert engine_options()["local"] == ("slots",)
