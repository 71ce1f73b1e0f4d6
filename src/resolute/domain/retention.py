"""Which checkpoints of an experiment its `save_*` policy lets go. Pure; deleting is somebody else's job."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    save_experiment_best: int = 0
    save_trial_best: int = 1
    save_trial_latest: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """A whole checkpoint that is still stored, seen by the collector."""

    uuid: str
    trial_id: int
    steps_completed: int
    metric: float | None = None
    """The searcher's metric validated at exactly `steps_completed`; None when there was no such validation."""
    in_use: bool = False
    """Something begins from it (a warm start, a registered model): never deleted, but it counts in the ranks."""


def to_delete(checkpoints: Sequence[Retained], *, policy: RetentionPolicy, smaller_is_better: bool) -> list[str]:
    """Uuids to delete, in the order given.

    One goes when it is beyond both `best` limits, or was never validated, and is also beyond the trial's
    `save_trial_latest` newest. Equal metrics rank by fewer steps first: reaching a value sooner is better.
    """
    best_first = sorted(
        (c for c in checkpoints if _is_ranked(c)), key=lambda c: (*_badness(c, smaller_is_better), c.trial_id, c.uuid)
    )
    newest_first = sorted(checkpoints, key=lambda c: (-c.steps_completed, c.uuid))
    kept = {c.uuid for c in best_first[: policy.save_experiment_best]}
    kept |= _first_of_each_trial(best_first, policy.save_trial_best)
    kept |= _first_of_each_trial(newest_first, policy.save_trial_latest)
    return [c.uuid for c in checkpoints if c.uuid not in kept and not c.in_use]


def _is_ranked(checkpoint: Retained) -> bool:
    return checkpoint.metric is not None


def _badness(checkpoint: Retained, smaller_is_better: bool) -> tuple[bool, float, int]:
    """Sort key, best first; a NaN was validated but is worse than any number."""
    value = checkpoint.metric
    if value is None or math.isnan(value):
        return True, 0.0, checkpoint.steps_completed
    return False, value if smaller_is_better else -value, checkpoint.steps_completed


def _first_of_each_trial(ordered: Sequence[Retained], count: int) -> set[str]:
    seen: dict[int, int] = {}
    kept: set[str] = set()
    for checkpoint in ordered:
        seen[checkpoint.trial_id] = seen.get(checkpoint.trial_id, 0) + 1
        if seen[checkpoint.trial_id] <= count:
            kept.add(checkpoint.uuid)
    return kept
