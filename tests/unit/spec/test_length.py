"""Lengths and their conversion to batches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from resolute.domain.errors import InvalidInput
from resolute.spec.length import Length, Unit, read_length


@pytest.mark.parametrize("unit", list(Unit))
def test_a_length_has_the_unit_it_was_given(unit: Unit) -> None:
    length = Length.model_validate({unit.value: 12})

    assert length.unit is unit
    assert length.units == 12
    assert length.resolved() == {unit.value: 12}


@pytest.mark.parametrize("raw", [{}, {"batches": 1, "epochs": 2}, {"batches": -1}, {"steps": 3}, {"batches": "ten"}])
def test_anything_but_one_whole_unit_is_refused(raw: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Length.model_validate(raw)


@pytest.mark.parametrize(
    ("raw", "batches"),
    [
        ({"batches": 100}, 100),
        ({"records": 1000}, 31),
        ({"records": 3}, 1),
        ({"epochs": 2}, 62),
        ({"epochs": 0}, 0),
        ({"records": 0}, 0),
    ],
)
def test_lengths_convert_to_whole_batches_and_at_least_one(raw: dict[str, int], batches: int) -> None:
    assert Length.model_validate(raw).to_batches(global_batch_size=32, records_per_epoch=1000) == batches


def test_records_need_a_batch_size() -> None:
    with pytest.raises(InvalidInput, match="global_batch_size"):
        Length(records=10).to_batches()


def test_epochs_need_the_size_of_the_training_set() -> None:
    with pytest.raises(InvalidInput, match="records_per_epoch"):
        Length(epochs=10).to_batches(global_batch_size=4)


def test_a_bare_number_out_of_storage_counts_batches() -> None:
    assert read_length(40) == Length(batches=40)
    assert read_length({"epochs": 2}) == Length(epochs=2)


@given(st.integers(1, 10**6), st.integers(1, 4096), st.integers(1, 10**7))
def test_more_epochs_are_never_fewer_batches(epochs: int, batch: int, records: int) -> None:
    shorter = Length(epochs=epochs).to_batches(global_batch_size=batch, records_per_epoch=records)
    longer = Length(epochs=epochs + 1).to_batches(global_batch_size=batch, records_per_epoch=records)

    assert longer >= shorter >= 1
