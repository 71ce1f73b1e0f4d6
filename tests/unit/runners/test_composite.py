"""Several runners as one: each gets the work of its pools, and one that fails is nobody else's trouble."""

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from resolute.domain.allocation import NodeShare
from resolute.domain.errors import Unavailable
from resolute.domain.gang import Phase
from resolute.domain.node import Node, Pool, Slot
from resolute.engine.ports.runner import Gang, GangStatus, NodePart
from resolute.runners.composite import CompositeRunner
from resolute.runners.fake import FakeRunner


class Broken(FakeRunner):
    """Its engine went away after it had declared its pools."""

    is_away = False

    def pools(self) -> list[Pool]:
        self._check()
        return super().pools()

    def nodes(self) -> list[Node]:
        self._check()
        return super().nodes()

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]:
        self._check()
        return super().poll(handles)

    def stop(self, handle: str, *, force: bool) -> None:
        self._check()
        super().stop(handle, force=force)

    def running(self) -> list[str]:
        self._check()
        return super().running()

    def close(self, *, stop_gangs: bool) -> None:
        self._check()
        super().close(stop_gangs=stop_gangs)

    def _check(self) -> None:
        if self.is_away:
            raise Unavailable("The controller does not answer.")


@pytest.fixture
def here() -> FakeRunner:
    return FakeRunner(2)


@pytest.fixture
def there() -> Broken:
    return Broken([Node("gpu-1", (Slot(0),), resource_pool="gpu")])


@pytest.fixture
def both(here: FakeRunner, there: Broken) -> CompositeRunner:
    return CompositeRunner({"here": here, "slurm": there})


def gang(name: str, pool: str = "default") -> Gang:
    return Gang(
        allocation_id=name,
        task_id=name,
        run_id=1,
        nodes=(NodePart(share=NodeShare("n", (0,))),),
        entrypoint="sleep 600",
        env={},
        resource_pool=pool,
    )


def test_pools_and_nodes_are_those_of_all_and_the_default_pool_that_of_the_first(both: CompositeRunner) -> None:
    assert [pool.name for pool in both.pools()] == ["default", "gpu"]
    assert [node.id for node in both.nodes()] == ["fake", "gpu-1"]


def test_work_goes_to_the_runner_of_its_pool(both: CompositeRunner, here: FakeRunner, there: Broken) -> None:
    handles = [both.start(gang("a.1")), both.start(gang("b.1", "gpu"))]

    assert handles == ["a.1", "slurm:b.1"]
    assert [g.allocation_id for g in here.started] == ["a.1"]
    assert [g.allocation_id for g in there.started] == ["b.1"]
    assert both.running() == handles


def test_a_pool_that_two_declare_is_the_first_ones(here: FakeRunner, there: Broken) -> None:
    there.set_nodes([Node("other", (Slot(0),))])
    both = CompositeRunner({"here": here, "slurm": there})

    both.start(gang("a.1"))

    assert [pool.name for pool in both.pools()] == ["default"]
    assert [node.id for node in both.nodes()] == ["fake"]
    assert there.started == []


def test_work_for_a_pool_that_nobody_declares_is_tried_again_later(both: CompositeRunner) -> None:
    with pytest.raises(Unavailable, match="No runner declares pool tpu; runners are here, slurm"):
        both.start(gang("a.1", "tpu"))


def test_each_is_asked_about_its_own_handles(both: CompositeRunner, here: FakeRunner, there: Broken) -> None:
    handles = [both.start(gang("same.1")), both.start(gang("same.1", "gpu"))]
    there.finish("same.1", 3)

    statuses = both.poll(handles)

    assert statuses["same.1"].exit_code is None
    assert statuses["slurm:same.1"].exit_code == 3


def test_stopping_and_forgetting_reach_the_right_one(both: CompositeRunner, here: FakeRunner, there: Broken) -> None:
    handle = both.start(gang("b.1", "gpu"))

    both.stop(handle, force=True)
    both.forget(handle)

    assert there.stopped == [("b.1", True)]
    assert there.forgotten == ["b.1"]
    assert here.stopped == []


def test_one_that_does_not_answer_stops_nobody_else(both: CompositeRunner, here: FakeRunner, there: Broken) -> None:
    handles = [both.start(gang("a.1")), both.start(gang("b.1", "gpu"))]
    there.is_away = True

    statuses = both.poll(handles)
    both.stop(handles[1], force=True)
    running = both.running()
    both.close(stop_gangs=False)

    assert list(statuses) == ["a.1"]
    assert running == ["a.1"]
    assert here.is_closed


def test_what_an_engine_runs_is_never_lost_because_it_is_away(both: CompositeRunner, there: Broken) -> None:
    handle = both.start(gang("b.1", "gpu"))
    there.is_away = True
    away = both.poll([handle])
    there.is_away = False

    assert away == {}
    assert both.poll([handle])[handle].phase is Phase.RUNNING


def test_the_pools_of_one_that_is_away_stay_declared(both: CompositeRunner, there: Broken) -> None:
    both.pools()
    there.is_away = True

    assert [pool.name for pool in both.pools()] == ["default", "gpu"]
    assert [node.id for node in both.nodes()] == ["fake"]


def test_gangs_of_a_runner_that_is_no_longer_configured_are_not_called_lost(here: FakeRunner) -> None:
    alone = CompositeRunner({"here": here})

    assert alone.poll(["slurm:b.1", "gone"]) == here.poll(["gone"])
    alone.stop("slurm:b.1", force=True)


def test_what_a_master_without_other_runners_started_is_the_first_ones(both: CompositeRunner, here: FakeRunner) -> None:
    handle = here.start(gang("a.1"))

    assert both.poll([handle])[handle].phase is Phase.RUNNING


def test_a_change_in_any_of_them_is_told(both: CompositeRunner, here: FakeRunner, there: Broken) -> None:
    told = threading.Event()
    both.watch(told.set)
    both.start(gang("b.1", "gpu"))

    there.finish("b.1")

    assert told.is_set()


def test_a_request_is_rendered_by_the_runner_that_would_send_it(both: CompositeRunner) -> None:
    assert both.render(replace(gang("b.1"), resource_pool="gpu"))["resource_pool"] == "gpu"
