"""Checkpoint garbage collection, held against the rule as it is written down."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.domain.retention import Retained, RetentionPolicy, to_delete

steady = settings(deadline=None)  # a busy machine is no failure


def checkpoint(uuid: str, steps: int, metric: float | None = None, *, trial: int = 1, in_use: bool = False) -> Retained:
    return Retained(uuid=uuid, trial_id=trial, steps_completed=steps, metric=metric, in_use=in_use)


def test_by_default_each_trial_keeps_its_best_and_its_latest() -> None:
    stored = [
        checkpoint("a", 1, 0.5),
        checkpoint("b", 2, 0.1),
        checkpoint("c", 3, 0.3),
        checkpoint("d", 1, 0.9, trial=2),
    ]

    gone = to_delete(stored, policy=RetentionPolicy(), smaller_is_better=True)

    assert gone == ["a"]


def test_the_direction_of_the_metric_is_honoured() -> None:
    stored = [checkpoint("low", 1, 0.1), checkpoint("high", 2, 0.9), checkpoint("latest", 3, 0.5)]

    gone = to_delete(stored, policy=RetentionPolicy(), smaller_is_better=False)

    assert gone == ["low"]


def test_the_best_of_the_experiment_are_kept_whatever_their_trial() -> None:
    stored = [checkpoint(f"{t}-{n}", n, t + n / 10, trial=t) for t in (1, 2) for n in (1, 2, 3)]
    policy = RetentionPolicy(save_experiment_best=2, save_trial_best=0, save_trial_latest=0)

    gone = to_delete(stored, policy=policy, smaller_is_better=True)

    assert set(gone) == {"1-3", "2-1", "2-2", "2-3"}


def test_without_a_validation_only_recency_protects() -> None:
    stored = [checkpoint("old", 1), checkpoint("new", 2)]
    generous = RetentionPolicy(save_experiment_best=9, save_trial_best=9, save_trial_latest=1)

    assert to_delete(stored, policy=generous, smaller_is_better=True) == ["old"]


def test_what_is_in_use_is_skipped_but_still_counts() -> None:
    stored = [checkpoint("base", 1, 0.1, in_use=True), checkpoint("second", 2, 0.2), checkpoint("latest", 3, 0.9)]

    gone = to_delete(stored, policy=RetentionPolicy(), smaller_is_better=True)

    assert gone == ["second"]


def test_all_zero_deletes_everything_that_is_not_in_use() -> None:
    stored = [checkpoint("a", 1, 0.1), checkpoint("b", 2), checkpoint("c", 3, 0.2, in_use=True)]
    nothing = RetentionPolicy(save_experiment_best=0, save_trial_best=0, save_trial_latest=0)

    assert to_delete(stored, policy=nothing, smaller_is_better=True) == ["a", "b"]


def test_a_nan_is_the_worst_value_in_both_directions() -> None:
    stored = [checkpoint("nan", 1, math.nan), checkpoint("number", 2, 5.0), checkpoint("latest", 3)]
    policy = RetentionPolicy(save_trial_best=1, save_trial_latest=1)

    assert to_delete(stored, policy=policy, smaller_is_better=True) == ["nan"]
    assert to_delete(stored, policy=policy, smaller_is_better=False) == ["nan"]


checkpoints = st.lists(
    st.builds(
        Retained,
        uuid=st.uuids().map(str),
        trial_id=st.integers(1, 3),
        steps_completed=st.integers(0, 6),
        metric=st.none() | st.floats(-2, 2, allow_nan=False),
        in_use=st.booleans(),
    ),
    max_size=14,
)
policies = st.builds(
    RetentionPolicy,
    save_experiment_best=st.integers(0, 3),
    save_trial_best=st.integers(0, 3),
    save_trial_latest=st.integers(0, 3),
)


@steady
@given(checkpoints, policies, st.booleans())
def test_it_agrees_with_the_rule_worked_out_rank_by_rank(
    stored: list[Retained], policy: RetentionPolicy, smaller: bool
) -> None:
    sign = 1 if smaller else -1

    def value(c: Retained) -> tuple[float, int, int, str]:
        assert c.metric is not None
        return (sign * c.metric, c.steps_completed, c.trial_id, c.uuid)

    def is_deleted(c: Retained) -> bool:
        validated = [o for o in stored if o.metric is not None]
        in_trial = [o for o in validated if o.trial_id == c.trial_id]
        newer = [o for o in stored if o.trial_id == c.trial_id]
        recency = sum((-o.steps_completed, o.uuid) <= (-c.steps_completed, c.uuid) for o in newer)
        if c.in_use or recency <= policy.save_trial_latest:
            return False
        if c.metric is None:
            return True
        rank = sum(value(o) <= value(c) for o in validated)
        trial_rank = sum(value(o) <= value(c) for o in in_trial)
        return rank > policy.save_experiment_best and trial_rank > policy.save_trial_best

    gone = to_delete(stored, policy=policy, smaller_is_better=smaller)

    assert gone == [c.uuid for c in stored if is_deleted(c)]
