"""A snapshot and the patches since are the same as the newest snapshot, for any JSON and for every searcher."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.search.patch import changes, patched
from resolute.search.tracked_list import TrackedList

NUMBERS = st.integers(-5, 5) | st.floats(-2, 2)
LEAVES = st.none() | st.booleans() | NUMBERS | st.text("abc", max_size=6)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text("xyz", max_size=2), inner, max_size=4),
    max_leaves=30,
)
SEARCHES: dict[str, dict[str, Any]] = {
    "random": {"name": "random", "max_trials": 9, "max_concurrent_trials": 4},
    "grid": {"name": "grid", "max_concurrent_trials": 3},
    "stopping": {"name": "adaptive_asha", "max_trials": 20, "max_time": 64, "stop_once": True},
    "promotion": {"name": "adaptive_asha", "max_trials": 20, "max_length": {"batches": 64}, "stop_once": False},
    "pbt": {"name": "pbt", "population_size": 5, "num_rounds": 3, "length_per_round": {"batches": 10}},
    "tpe": {"name": "tpe", "max_trials": 16, "startup_trials": 4, "max_concurrent_trials": 3},
    "adaptive_tpe": {"name": "adaptive_tpe", "max_trials": 40, "startup_trials": 4, "max_time": 64},
}


@given(old=JSON, new=JSON)
def test_what_changed_turns_the_old_value_into_the_new_one(old: Any, new: Any) -> None:
    before = json.dumps(old)

    patch = changes(old, new)

    assert patched(old, patch) == new
    assert json.dumps(old) == before


@given(value=JSON)
def test_nothing_changed_is_no_patch(value: Any) -> None:
    assert changes(value, json.loads(json.dumps(value))) is None


@given(items=st.lists(NUMBERS, max_size=40), at=st.integers(0, 40), value=NUMBERS)
def test_one_insertion_is_one_number_in_the_patch(items: list[float], at: int, value: float) -> None:
    longer = [*items[:at], value, *items[at:]]

    patch = changes(items, longer)

    assert patch is not None
    assert (patch["cut"], len(patch["put"])) == (0, 1)


def test_a_change_deep_inside_leaves_its_neighbours_out_of_the_patch() -> None:
    old = {"rungs": [{"order": [1, 2]}, {"order": [3], "units": 4}], "roll": "rr"}
    new = {"rungs": [{"order": [1, 2]}, {"order": [5, 3], "units": 4}], "roll": "rs"}

    patch = changes(old, new)

    assert patch == {
        "in": {
            "rungs": {"each": [[1, {"in": {"order": {"at": 0, "cut": 0, "put": [5]}}}]]},
            "roll": {"at": 1, "cut": 1, "put": "s"},
        }
    }


def test_a_column_of_objects_tells_what_changed_inside_the_one_that_was_replaced() -> None:
    column: TrackedList[dict[str, Any]] = TrackedList([{"losses": [3.0]}, {"losses": [2.0]}])
    before = column.written()

    column[1] = {"losses": [2.0, 1.0]}
    grown = changes(before, column.written())
    column[1] = {"losses": [2.0, 1.0]}

    assert grown == {"each": [[1, {"in": {"losses": {"at": 1, "cut": 0, "put": [1.0]}}}]]}
    assert patched(list(before), grown) == column
    assert changes(patched(list(before), grown), column.written()) is None


def test_keys_that_are_gone_are_taken_out() -> None:
    assert changes({"a": 1, "b": 2}, {"b": 2}) == {"in": {}, "out": ["a"]}
    assert patched({"a": 1, "b": 2}, {"in": {}, "out": ["a"]}) == {"b": 2}


@pytest.mark.parametrize("config", SEARCHES.values(), ids=SEARCHES)
def test_the_patches_of_a_whole_search_add_up_to_its_snapshot(
    player: Callable[..., Any], config: dict[str, Any]
) -> None:
    game = player({"metric": "loss", **config}, seed=5, trouble=0.1)
    remembered = game.searcher.snapshot()
    stored = json.loads(json.dumps(remembered))
    send = game.send

    def sent(event: Any) -> Any:
        nonlocal remembered, stored
        outcome = send(event)
        snapshot = game.searcher.snapshot()
        # `remembered` is not copied, as the engine does not: the searcher must leave it alone.
        stored = patched(stored, json.loads(json.dumps(changes(remembered, snapshot))))
        remembered = snapshot
        assert stored == json.loads(json.dumps(snapshot))
        return outcome

    game.send = sent
    record = game.play()

    assert record.shutdown is not None
