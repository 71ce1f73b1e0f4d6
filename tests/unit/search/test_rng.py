"""The generator behind every search."""

import uuid

from hypothesis import given
from hypothesis import strategies as st

from resolute.search.rng import Rng

SEEDS = st.integers(0, 2**64 - 1)


@given(SEEDS)
def test_a_generator_continues_from_its_written_state(seed: int) -> None:
    rng = Rng(seed)
    rng.bits()

    copy = Rng.of_state(rng.state)

    assert [copy.bits() for _ in range(5)] == [rng.bits() for _ in range(5)]


@given(SEEDS)
def test_ids_are_version_four_uuids_and_differ(seed: int) -> None:
    rng = Rng(seed)

    ids = {rng.uuid() for _ in range(100)}

    assert len(ids) == 100
    assert all(uuid.UUID(one).version == 4 and str(uuid.UUID(one)) == one for one in ids)


@given(SEEDS, st.integers(1, 1000))
def test_draws_stay_in_range(seed: int, limit: int) -> None:
    rng = Rng(seed)

    for _ in range(50):
        assert 0 <= rng.below(limit) < limit
        assert 0.0 <= rng.unit() < 1.0
        assert 0 <= rng.seed() < 2**31


def test_draws_are_even() -> None:
    rng = Rng(12)

    units = [rng.unit() for _ in range(10_000)]
    normals = [rng.normal() for _ in range(10_000)]

    assert abs(sum(units) / 10_000 - 0.5) < 0.01
    assert abs(sum(normals) / 10_000) < 0.03
    assert abs(sum(value * value for value in normals) / 10_000 - 1.0) < 0.05


def test_a_negative_or_large_seed_is_taken() -> None:
    assert Rng(-1).bits() == Rng(2**64 - 1).bits()
