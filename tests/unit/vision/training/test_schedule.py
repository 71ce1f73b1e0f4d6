"""The learning rate follows the formulas, batch by batch."""

import math
from typing import Any

import pytest

from resolute.domain.errors import InvalidInput
from resolute.vision.schedule import Schedule


def test_a_linear_warmup_rises_from_the_ratio_to_one() -> None:
    schedule = Schedule(warmup="linear", warmup_iters=200, warmup_ratio=0.001, kind="constant")

    assert schedule.factor(0) == pytest.approx(0.001 + 1 / 200 * 0.999)
    assert schedule.factor(99) == pytest.approx(0.001 + 0.5 * 0.999)
    assert schedule.factor(199) == pytest.approx(1.0)
    assert schedule.factor(200) == 1.0


def test_an_exponential_and_a_constant_warmup_follow_theirs() -> None:
    exponential = Schedule(warmup="exp", warmup_iters=10, warmup_ratio=0.01, kind="constant")
    constant = Schedule(warmup="constant", warmup_iters=10, warmup_ratio=0.3, kind="constant")

    assert exponential.factor(4) == pytest.approx(0.01**0.5)
    assert [constant.factor(batch) for batch in (0, 9, 10)] == [0.3, 0.3, 1.0]


def test_steps_multiply_by_gamma_where_they_lie() -> None:
    schedule = Schedule(milestones=(18032, 19320), gamma=0.1)

    assert [schedule.factor(batch) for batch in (18031, 18032, 19320)] == pytest.approx([1.0, 0.1, 0.01])


def test_a_step_within_the_warmup_counts_with_it() -> None:
    schedule = Schedule(milestones=(5,), gamma=0.5, warmup="linear", warmup_iters=10, warmup_ratio=0.1)

    assert schedule.factor(6) == pytest.approx((0.1 + 0.7 * 0.9) * 0.5)


def test_a_cosine_ends_at_zero() -> None:
    schedule = Schedule(kind="cosine", total=100)

    assert schedule.factor(0) == 1.0
    assert schedule.factor(25) == pytest.approx(0.5 * (1 + math.cos(math.pi / 4)))
    assert schedule.factor(100) == pytest.approx(0.0)
    assert schedule.factor(140) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"warmup": "square"}, "warmup is 'square'; use one of none, constant, linear, exp"),
        ({"kind": "triangle"}, "lr_scheduler is 'triangle'"),
        ({"warmup": "linear"}, "warmup_iters is 0"),
        ({"warmup": "linear", "warmup_iters": 5, "warmup_ratio": 0.0}, "warmup_ratio is 0"),
        ({"gamma": 0.0}, "gamma is 0"),
        ({"milestones": (9, 3)}, "do not rise"),
        ({"kind": "cosine"}, "needs to know how long"),
    ],
)
def test_schedules_that_make_no_sense_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        Schedule(**settings)
