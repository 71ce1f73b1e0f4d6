"""Lengths and periods: from YAML and arguments to batch numbers."""

from typing import Any

import pytest

from resolute.domain.errors import InvalidInput
from resolute.training.pytorch.lengths import Batch, Epoch, Record, parse_length
from resolute.training.pytorch.plan import make_plan, periods_from


def plan(config: dict[str, Any] | None = None, *, per_epoch: int | None = 10, batch: int = 4, **given: Any) -> Any:
    periods = periods_from(config or {}, {"max_length": Batch(100), **given})
    return make_plan(periods, batches_per_epoch=per_epoch, global_batch_size=batch)


@pytest.mark.parametrize(
    ("written", "length"),
    [
        ({"batches": 5}, Batch(5)),
        ({"epochs": 2}, Epoch(2)),
        ({"records": 64}, Record(64)),
        (7, Batch(7)),
        ({"batches": 0}, None),
        (None, None),
        (Epoch(3), Epoch(3)),
    ],
)
def test_lengths_are_read_as_yaml_writes_them(written: Any, length: Any) -> None:
    assert parse_length(written, "x") == length


@pytest.mark.parametrize("written", [{"hours": 1}, {"batches": 1, "epochs": 1}, "5", {"batches": "5"}, True])
def test_other_lengths_are_refused_by_name(written: Any) -> None:
    with pytest.raises(InvalidInput, match=r"min_validation_period is .*batches, records or epochs"):
        parse_length(written, "min_validation_period")


def test_every_unit_becomes_batches() -> None:
    made = plan(max_length=Epoch(3), validation_period=Record(20), checkpoint_period=Batch(7))

    assert (made.max_steps, made.validation, made.checkpoint) == (30, 5, 7)


def test_records_per_epoch_decides_what_an_epoch_is() -> None:
    assert plan({"records_per_epoch": 80}, max_length=Epoch(1), per_epoch=None).max_steps == 20


def test_the_newer_dialects_time_gives_the_length() -> None:
    config = {"searcher": {"name": "adaptive_asha", "time_metric": "epochs", "max_time": 4}}
    periods = periods_from(config, {})

    assert make_plan(periods, batches_per_epoch=5, global_batch_size=1).max_steps == 20


def test_the_next_stop_is_the_nearest_thing_due() -> None:
    made = plan(reporting_period=Batch(8), validation_period=Batch(10), checkpoint_period=Batch(25))
    stops, step = [], 0

    while step < 30:
        step = made.next_stop(step)
        stops.append(step)

    assert stops == [8, 10, 16, 20, 24, 25, 30]


def test_arguments_win_over_yaml() -> None:
    assert plan({"scheduling_unit": 50}, reporting_period=Batch(5)).reporting == 5


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(InvalidInput, match="use one of best, all, none"):
        plan(checkpoint_policy="sometimes")


def test_epochs_of_unknown_length_are_refused() -> None:
    with pytest.raises(InvalidInput, match="does not know its length"):
        plan(max_length=Epoch(1), per_epoch=None)
