"""Nodes of an allocation: how they meet, how far they have come, and which output is the next."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.gang import (
    GangNode,
    Meeting,
    Phase,
    meeting_of,
    meeting_variables,
    phase_of,
    rank_of,
    resources_id,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NODE = GangNode(allocation_id="1.a.1", rank=0)


def joined(rank: int) -> GangNode:
    return replace(NODE, rank=rank).joined(
        node_id=f"n{rank}", address=f"10.0.0.{rank + 1}", slot_ids=(0, 1), ports=(9000 + rank,)
    )


def test_nodes_meet_when_all_have_joined_in_rank_order_at_the_ports_of_the_first() -> None:
    nodes = [joined(2), joined(0), joined(1)]

    assert meeting_of(nodes, 3) == Meeting(("10.0.0.1", "10.0.0.2", "10.0.0.3"), (2, 2, 2), (9000,))


@pytest.mark.parametrize("there", [[], [joined(0)], [joined(1), joined(2)], [joined(0), replace(NODE, rank=1)]])
def test_nobody_meets_while_one_is_missing_or_has_no_address(there: list[GangNode]) -> None:
    assert meeting_of(there, 2 if joined(0) in there else 3) is None


def test_the_variables_of_a_meeting_are_those_of_torchrun() -> None:
    variables = meeting_variables(Meeting(("a", "b"), (2, 1), (9000, 9001, 9002, 9003)), 1)

    assert variables["PET_MASTER_ADDR"] == "a"
    assert (variables["PET_NODE_RANK"], variables["PET_NPROC_PER_NODE"], variables["PET_NNODES"]) == ("1", "1", "2")
    assert variables["C10D_PORT"] == variables["PET_MASTER_PORT"] == "9000"


@pytest.mark.parametrize(
    ("address", "ports"), [("", ()), ("two words", ()), ("a\nb", ()), ("h" * 300, ()), ("h", (0,))]
)
def test_an_address_that_nobody_could_reach_is_refused(address: str, ports: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match=r"address|ports"):
        NODE.joined(node_id="n", address=address, slot_ids=(), ports=ports)


def test_a_node_of_impossible_size_is_refused() -> None:
    with pytest.raises(InvalidInput, match="ports"):
        NODE.joined(node_id="n", address="h", slot_ids=(), ports=(1,) * 17)
    with pytest.raises(InvalidInput, match="slotIds"):
        NODE.joined(node_id="n", address="h", slot_ids=tuple(range(5000)), ports=())


@pytest.mark.parametrize(("start", "goal"), list(product(Phase, repeat=2)))
def test_a_node_never_goes_back_to_an_earlier_phase(start: Phase, goal: Phase) -> None:
    order = list(Phase)
    node = NODE.in_phase(start, now=NOON)

    after = node.in_phase(goal, now=NOON + timedelta(seconds=1), exit_code=3, reason="why")

    if order.index(goal) > order.index(start):
        assert (after.phase, after.exit_code, after.reason) == (goal, 3, "why")
        assert after.phase_since == NOON + timedelta(seconds=1)
    else:
        assert after is node


def test_output_is_taken_in_the_order_of_its_numbers() -> None:
    first = NODE.with_output(1, log_size=100)

    assert (first.log_sequence, first.log_start) == (1, 100)
    assert first.with_output(1, log_size=500) is first
    assert first.with_output(2, log_size=500).log_start == 500
    with pytest.raises(InvalidInput, match=r"Batch 3 .* of 1\.a\.1\.0 came after batch 1\. Send batch 2 first"):
        first.with_output(3, log_size=500)


def test_the_id_of_resources_names_the_rank() -> None:
    assert rank_of(resources_id("1.a.1", 12), "1.a.1") == 12
    assert rank_of("1.a.1", "1.a.1") == 0


@pytest.mark.parametrize(
    "foreign", ["", "1.a", "1.a.10", "1.a.2.0", "1.a.1.", "1.a.1.x", "1.a.1.-1", "1.a.1." + "9" * 10]
)
def test_resources_of_others_are_not_found(foreign: str) -> None:
    with pytest.raises(NotFound, match=r"resources not found.*1\.a\.1\.<rank>"):
        rank_of(foreign, "1.a.1")


def test_a_gang_is_as_far_as_its_slowest_node() -> None:
    assert phase_of([Phase.RUNNING, Phase.PULLING, Phase.ENDED]) is Phase.PULLING
    assert phase_of([]) is Phase.PENDING
