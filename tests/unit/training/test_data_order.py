"""The order of samples: complete, repeatable, and independent of how many ranks share it."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from resolute.training.pytorch.data import GlobalBatches, Position, next_chunk, share_of


def epoch_of(length: int, batch: int, size: int, *, start: int = 0, seed: int = 3) -> list[list[list[int]]]:
    """Per global batch, per rank, the indices."""
    samplers = [
        GlobalBatches(length, global_batch_size=batch, rank=rank, size=size, shuffle=True, seed=seed, drop_last=False)
        for rank in range(size)
    ]
    for sampler in samplers:
        sampler.position = Position(epoch=1, samples=start)
    per_rank = [list(sampler) for sampler in samplers]
    return [list(ranks) for ranks in zip(*per_rank, strict=True)]


@given(length=st.integers(8, 200), batch=st.integers(8, 40), size=st.integers(1, 8))
def test_an_epoch_shows_every_sample_once_and_gives_every_rank_work(length: int, batch: int, size: int) -> None:
    batches = epoch_of(length, batch, size)

    seen = [index for ranks in batches for indices in ranks for index in indices]
    assert sorted(seen) == list(range(length))
    assert all(indices for ranks in batches for indices in ranks)


@given(
    length=st.integers(20, 150),
    batch=st.integers(6, 20),
    before=st.integers(1, 6),
    after=st.integers(1, 6),
    stop=st.integers(0, 5),
)
def test_another_number_of_slots_goes_on_at_the_very_next_sample(
    length: int, batch: int, before: int, after: int, stop: int
) -> None:
    first = epoch_of(length, batch, before)[:stop]
    seen = [index for ranks in first for indices in ranks for index in indices]

    rest = epoch_of(length, batch, after, start=len(seen))
    seen += [index for ranks in rest for indices in ranks for index in indices]

    assert sorted(seen) == list(range(length))


@given(length=st.integers(8, 100), batch=st.integers(8, 30), size=st.integers(1, 8))
def test_the_global_batches_hold_the_same_samples_whatever_the_number_of_ranks(
    length: int, batch: int, size: int
) -> None:
    alone = epoch_of(length, batch, 1)
    shared = epoch_of(length, batch, size)

    for one, many in zip(alone[:-2], shared[:-2], strict=False):
        assert one[0] == [index for indices in many for index in indices]


@given(count=st.integers(1, 1000), size=st.integers(1, 64))
def test_shares_differ_by_one_at_most(count: int, size: int) -> None:
    lengths = [end - start for start, end in (share_of(count, rank, size) for rank in range(size))]

    assert sum(lengths) == count
    assert max(lengths) - min(lengths) <= 1


def test_epochs_differ_and_seeds_differ() -> None:
    def order(seed: int, epoch: int) -> list[int]:
        sampler = GlobalBatches(50, global_batch_size=50, rank=0, size=1, shuffle=True, seed=seed, drop_last=False)
        sampler.position = Position(epoch=epoch)
        return list(next(iter(sampler)))

    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)
    assert order(1, 0) == order(1, 0)


def test_a_dropped_rest_is_never_a_batch() -> None:
    assert next_chunk(10, 8, 4, 2, drop_last=True) == 0
    assert next_chunk(10, 8, 4, 2, drop_last=False) == 2


def test_making_an_order_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()

    epoch_of(30, 8, 2)

    assert torch.equal(torch.get_rng_state(), before)
