"""What the nodes of a gang tell the master: taken once and in order, whatever is repeated and whenever it dies."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.allocation import AllocationState
from resolute.domain.errors import Fenced, InvalidInput, NotFound, Unavailable
from resolute.domain.gang import GangNode, Meeting, Phase
from resolute.domain.log import LogLine, LogStream, encode_line
from resolute.domain.node import Node, Slot
from resolute.engine.jobs import nodes
from resolute.engine.notices import tell
from resolute.engine.ports.logs import LogQuery
from resolute.store.logs import FileLogs

from ..test_crashes import Crash, mortal
from ..test_gangs_over_hosts import WIDE, _archive, _node

CODE = _archive({"train.py": "pass"})
PORTS = (9000, 9001, 9002, 9003)


@pytest.fixture
def world(make_world: Callable[..., Any]) -> Any:
    return wide(make_world())


def wide(world: Any) -> Any:
    """Its allocation spans two nodes and runs."""
    world.runner.set_nodes([_node("one"), _node("two")])
    world.create(WIDE, context=CODE)
    world.tick()
    world.id = world.allocation(world.trial(1))
    return world


def join(world: Any, rank: int, **changes: Any) -> Meeting | None:
    own = {"node_id": f"n{rank}", "address": f"10.0.0.{rank + 1}", "slot_ids": (0, 1), "ports": PORTS, "count": 2}
    return nodes.join(world.platform, world.id, f"{world.id}.{rank}", **(own | changes))


def stored(world: Any) -> list[GangNode]:
    with world.platform.store.read() as tx:
        return tx.gang_nodes.of_allocation(world.id)


# ---------------------------------------------------------------------------------------------------------- meeting


def test_nodes_meet_once_all_of_them_have_joined(world: Any) -> None:
    alone = join(world, 1)
    met = join(world, 0)

    assert alone is None
    assert met == join(world, 1) == Meeting(("10.0.0.1", "10.0.0.2"), (2, 2), PORTS)


def test_the_harness_learns_of_the_same_meeting(world: Any) -> None:
    join(world, 0)
    with pytest.raises(Unavailable, match=r"1 of 2 nodes .* have joined so far"):
        nodes.meeting(world.platform, world.id, 0)

    join(world, 1)

    assert nodes.meeting(world.platform, world.id, 1) == join(world, 0)


def test_a_node_that_moved_before_the_meeting_is_met_where_it_is_now(world: Any) -> None:
    join(world, 0)
    join(world, 0, address="10.0.0.9")

    met = join(world, 1)

    assert met is not None
    assert met.addresses == ("10.0.0.9", "10.0.0.2")


@pytest.mark.parametrize("count", [0, 1, 3, 10**9])
def test_a_node_that_counts_wrong_is_refused(world: Any, count: int) -> None:
    with pytest.raises(InvalidInput, match=f"nodes: {count} is wrong; allocation .* has 2"):
        join(world, 0, count=count)


def test_a_rank_that_the_gang_does_not_have_is_not_found(world: Any) -> None:
    with pytest.raises(NotFound, match="has 2 at most"):
        join(world, 2)
    assert stored(world) == []


def test_joining_tells_those_who_wait_for_the_allocation(world: Any) -> None:
    noticed: list[str] = []
    world.platform.bus.subscribe(f"allocation/{world.id}", lambda: noticed.append("x"))

    join(world, 0)
    join(world, 0)

    assert noticed == ["x"]


# ----------------------------------------------------------------------------------------------------------- phases


def test_phases_are_kept_with_the_time_and_the_node_where_the_scheduler_put_it(world: Any) -> None:
    nodes.report_phase(world.platform, world.id, f"{world.id}.1", Phase.PULLING)
    nodes.report_phase(world.platform, world.id, f"{world.id}.1", Phase.ENDED, exit_code=9, reason="x" * 10**5)
    nodes.report_phase(world.platform, world.id, f"{world.id}.1", Phase.RUNNING)

    (node,) = stored(world)
    assert (node.rank, node.node_id, node.phase, node.exit_code) == (1, "two", Phase.ENDED, 9)
    assert node.phase_since == world.clock.now
    assert len(node.reason) == 4000


# ------------------------------------------------------------------------------------------------------------- code


def test_every_node_gets_the_model_definition_under_the_name_that_its_gang_carries(world: Any) -> None:
    content = nodes.model_definition(world.platform, world.id)

    assert hashlib.sha256(content).hexdigest() == world.runner.started[0].context_id


# ----------------------------------------------------------------------------------------------------------- output


def records(rank: int, sequence: int) -> bytes:
    """The same on both nodes, down to the microsecond: only who sent them tells them apart."""
    lines = [LogLine(10**15 + sequence, f"batch {sequence} line {n}", rank=0) for n in range(3)]
    return b"".join(map(encode_line, lines)) + encode_line(LogLine(10**15, f"node {rank} batch {sequence}"))


def send(world: Any, rank: int, sequence: int) -> None:
    nodes.take_output(world.platform, world.id, f"{world.id}.{rank}", sequence, records(rank, sequence))


def output(world: Any) -> list[str]:
    task_id = world.trial(1).task_id
    lines = world.platform.logs.read(task_id, LogQuery(streams=(LogStream.STDOUT,)))
    return [line.text for line in lines]


def notices(world: Any) -> list[str]:
    lines = world.platform.logs.read(world.trial(1).task_id, LogQuery(streams=(LogStream.PLATFORM,)))
    return [line.text for line in lines if line.text.startswith("notice")]


def test_batches_are_taken_in_order_and_once(world: Any) -> None:
    send(world, 0, 1)
    send(world, 0, 1)
    send(world, 0, 2)
    send(world, 0, 1)

    with pytest.raises(InvalidInput, match="Send batch 3 first"):
        send(world, 0, 4)
    assert [text for text in output(world) if text.startswith("node")] == ["node 0 batch 1", "node 0 batch 2"]
    assert len(output(world)) == 8


def test_what_ends_within_a_record_is_refused_whole(world: Any) -> None:
    with pytest.raises(InvalidInput, match="whole record"):
        nodes.take_output(world.platform, world.id, f"{world.id}.0", 1, records(0, 1)[:-1])
    assert (stored(world), output(world)) == ([], [])


class MortalLogs(FileLogs):
    """The real log; at the chosen batch the master dies with `kept` of its bytes written."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.batches = 0
        self.dies_at: int | None = None
        self.kept = 0

    def append_once(self, task_id: str, name: str, records: bytes, *, start: int) -> None:
        self.batches += 1
        before = self.size(task_id)
        super().append_once(task_id, name, records, start=start)
        if self.batches == self.dies_at:
            with self.path(task_id).open("r+b") as file:
                file.truncate(min(before + self.kept, self.size(task_id)))
            raise Crash


def drive(world: Any) -> tuple[list[str], list[str]]:
    """Two nodes send three batches each, again until they are answered and once more, while the master talks too."""
    for sequence in (1, 2, 3):
        for rank in (0, 1):
            for _ in range(2):
                until_answered(lambda rank=rank, sequence=sequence: send(world, rank, sequence))
            tell(world.platform, world.trial(1).task_id, f"notice {sequence}")
    return output(world), notices(world)


def until_answered(deed: Callable[[], None]) -> None:
    while True:
        try:
            return deed()
        except Crash:
            continue


@pytest.mark.parametrize("before", [True, False], ids=["before-commit", "after-commit"])
def test_a_crash_at_any_write_to_the_database_neither_loses_nor_doubles_a_line(
    make_world: Callable[..., Any], before: bool
) -> None:
    calm = wide(make_world())
    store = mortal(calm)
    expected = drive(calm)

    for moment in range(1, store.writes + 1):
        world = wide(make_world())
        store = mortal(world)
        store.dies_at, store.dies_before_commit = moment, before

        assert drive(world) == expected, f"crash at write {moment}"


@pytest.mark.parametrize("kept", [0, 1, 20, 60, 100, 150, 10**6])
def test_a_crash_within_any_write_to_the_log_neither_loses_nor_doubles_a_line(
    make_world: Callable[..., Any], kept: int
) -> None:
    expected = drive(wide(make_world()))

    for moment in range(1, 7):
        world = wide(make_world())
        logs = MortalLogs(world.home / "logs")
        world.platform = replace(world.platform, logs=logs)
        # Each batch is sent twice, and the second time nothing is written.
        logs.dies_at, logs.kept = moment, kept

        assert drive(world) == expected, f"crash in batch {moment} after {kept} bytes"


# --------------------------------------------------------------------------------------------------------- afterwards


def test_nothing_is_taken_from_an_allocation_that_is_over(world: Any) -> None:
    world.runner.finish(world.id)
    world.tick()
    assert world.states(world.trial(1))[-1] is AllocationState.TERMINATED
    deeds = (
        lambda: join(world, 0),
        lambda: send(world, 0, 1),
        lambda: nodes.report_phase(world.platform, world.id, world.id, Phase.RUNNING),
    )

    for deed in deeds:
        with pytest.raises(Fenced, match="has ended"):
            deed()
    assert stored(world) == []


def test_a_node_alone_meets_itself(make_world: Callable[..., Any]) -> None:
    world = make_world()
    world.runner.set_nodes([Node(id="one", slots=(Slot(0),), addresses=("10.1.1.1",))])
    world.create()
    world.tick()
    allocation_id = world.allocation(world.trial(1))

    met = nodes.meeting(world.platform, allocation_id, 0)

    assert (met.addresses, met.slots) == (("10.1.1.1",), (1,))
    with pytest.raises(NotFound, match="has no model definition"):
        nodes.model_definition(world.platform, allocation_id)
