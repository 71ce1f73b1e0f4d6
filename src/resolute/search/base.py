"""What every searcher shares: the table of trials, the goal, failures, the end, and the snapshot.

A searcher of its own kind fills in `_begin`, `_validated`, `_ended`, `_share_done`, `_state` and `_load_state`. Hooks
append to the outcome; this class decides which events reach them and when the search is over.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.search.events import (
    CreateTrial,
    Event,
    ExitReason,
    Outcome,
    SearchStarted,
    Shutdown,
    StopTrial,
    TrialClosed,
    TrialExitedEarly,
    TrialProgressed,
    Validated,
)
from resolute.search.objective import WORST, Objective
from resolute.search.pareto import best_first
from resolute.search.rng import Rng
from resolute.search.searcher import EarlierResult
from resolute.search.space import Assignment, Space
from resolute.search.trial_table import CANCELED, CLOSED, FAILED, INVALID, RUNNING, STOPPING, TrialTable

SNAPSHOT_VERSION = 1
DEFAULT_CONCURRENCY = 16


@dataclass(frozen=True, slots=True)
class BracketView:
    lengths: tuple[int, ...]
    max_trials: int
    reached: tuple[int, ...]
    """Trials that have come to each rung."""


class BaseSearcher(ABC):
    needs_free_parameter = True
    waking: frozenset[str] = frozenset({FAILED, CANCELED})
    """How a trial must have ended to train on when the search is reopened."""

    def __init__(self, searcher: Mapping[str, Any], space: Space, rng: Rng) -> None:
        self._space = space
        self._rng = rng
        self._objective = Objective(searcher)
        self._max_failed: int | None = searcher.get("max_failed_trials")
        self._trials = TrialTable()
        self._queued: list[Assignment] = []
        """Points to try before anything is drawn."""
        self._is_started = False
        self._is_over = False
        self._has_told_nan = False

    # What the engine calls.

    def handle(self, event: Event) -> Outcome:
        outcome = Outcome()
        if self._is_over:
            return outcome
        if isinstance(event, SearchStarted):
            if not self._is_started:
                self._is_started = True
                self._begin(outcome)
        elif self._is_started:
            self._handle_trial(event, outcome)
        if self._is_started and not self._is_over and self._is_exhausted():
            self._finish(outcome)
        return outcome

    def progress(self) -> float:
        if self._is_over:
            return 1.0
        return min(max(self._share_done(), 0.0), 1.0)

    def snapshot(self) -> dict[str, Any]:
        return {
            "version": SNAPSHOT_VERSION,
            "dice": self._rng.state,
            "is_started": self._is_started,
            "is_over": self._is_over,
            "has_told_nan": self._has_told_nan,
            "roll": self._trials.snapshot(),
            "queued": [dict(assignment) for assignment in self._queued],
            "state": self._state(),
        }

    def milestones(self) -> list[int]:
        """Training lengths at which this searcher may decide something; empty: only at the end of a trial."""
        return []

    def bracket_views(self) -> list[BracketView]:
        """What a picture of the search shows; empty for searchers without rungs."""
        return []

    def load(self, snapshot: Mapping[str, Any]) -> None:
        """Become the searcher that wrote `snapshot`."""
        if snapshot.get("version") != SNAPSHOT_VERSION:
            raise InvalidInput(
                f"The search snapshot has version {snapshot.get('version')!r}; this release reads {SNAPSHOT_VERSION}. "
                "Restore it with the release that wrote it."
            )
        self._rng = Rng.of_state(snapshot["dice"])
        self._is_started = snapshot["is_started"]
        self._is_over = snapshot["is_over"]
        self._has_told_nan = snapshot["has_told_nan"]
        self._trials = TrialTable.of_snapshot(snapshot["roll"])
        self._queued = [dict(assignment) for assignment in snapshot["queued"]]
        self._load_state(snapshot["state"])

    def reopen(self, searcher: Mapping[str, Any]) -> None:
        """Go on after the end with the larger budget of `searcher`; the next SearchStarted creates what it allows.

        Trials that failed or were cancelled train on, as the engine lets them; those that were done stay done.
        """
        for trial, status in enumerate(self._trials.status):
            if status in self.waking:
                self._trials.mark(trial, RUNNING)
                self._woken(trial)
            elif status == STOPPING:
                self._trials.mark(trial, CLOSED)
        self._add_budget(searcher)
        self._is_started = False
        self._is_over = False

    def learn(self, earlier: list[EarlierResult]) -> None:
        """Start from results of other searches: the best tenth is tried again first, conditions permitting."""
        fitting = [result for result in earlier if self._space.flat(result.hparams)]
        ranking = best_first([self._objective.losses(result.metrics) for result in fitting])
        for at in ranking[: -(-len(ranking) // 10)]:
            self._queued.append(self._space.complete(self._space.flat(fitting[at].hparams), self._rng))

    # What a searcher of its own kind fills in.

    @abstractmethod
    def _begin(self, outcome: Outcome) -> None:
        """Create the initial trials."""

    @abstractmethod
    def _validated(self, trial: int, time: float, losses: tuple[float, ...], outcome: Outcome) -> None:
        """A running trial reported."""

    @abstractmethod
    def _ended(self, trial: int, outcome: Outcome) -> None:
        """A trial that had not been told to stop has ended; `table.status[trial]` says how."""

    @abstractmethod
    def _share_done(self) -> float: ...

    def _state(self) -> dict[str, Any]:
        return {}

    def _load_state(self, state: Mapping[str, Any]) -> None:  # noqa: B027 - some have no more than the table
        """Inverse of `_state`."""

    def _add_budget(self, searcher: Mapping[str, Any]) -> None:  # noqa: B027 - most were built with the new budget
        """Take over a larger `max_trials` after `load`."""

    def _woken(self, trial: int) -> None:  # noqa: B027 - only searchers with rungs keep what a failure left behind
        """A trial that had ended trains again."""

    def _is_exhausted(self) -> bool:
        """Every hook creates what may be created at once, so a search with no open trial has none to come."""
        return not self._trials.open

    # What hooks use.

    def _draw(self) -> Assignment:
        return self._queued.pop(0) if self._queued else self._space.sample(self._rng)

    def _create(
        self, assignment: Assignment, outcome: Outcome, *, train_to: int | None = None, copy_of: str | None = None
    ) -> int:
        request_id = self._rng.uuid()
        hparams = self._space.nested(assignment)
        outcome.actions.append(CreateTrial(request_id, hparams, self._rng.seed(), train_to, copy_of))
        return self._trials.add(request_id)

    def _stop(self, trial: int, outcome: Outcome) -> None:
        if self._trials.is_running(trial):
            self._trials.mark(trial, STOPPING)
            outcome.actions.append(StopTrial(self._trials.ids[trial]))

    def _give_up(self, outcome: Outcome, shutdown: Shutdown) -> None:
        """Stop what runs and end the search."""
        for trial in sorted(self._trials.open):
            self._stop(trial, outcome)
        outcome.actions.append(shutdown)
        self._is_over = True

    # Events.

    def _handle_trial(self, event: Event, outcome: Outcome) -> None:
        trial = self._trials.index.get(event.request_id) if not isinstance(event, SearchStarted) else None
        if trial is None or trial not in self._trials.open:
            return
        if isinstance(event, Validated):
            self._handle_validation(trial, event, outcome)
        elif isinstance(event, TrialProgressed):
            self._trials.partial[trial] = min(max(event.progress, 0.0), 1.0)
        elif isinstance(event, TrialClosed):
            self._handle_end(trial, CLOSED, outcome)
        elif isinstance(event, TrialExitedEarly):
            self._handle_end(trial, _ENDS[event.reason], outcome)

    def _handle_validation(self, trial: int, event: Validated, outcome: Outcome) -> None:
        if not self._trials.is_running(trial):
            return
        losses = self._objective.losses(event.metrics)
        if WORST in losses:
            self._tell_nan(event, outcome)
        if self._objective.is_reached(losses):
            reason = f"Goal reached: {self._objective.goal_text()}."
            outcome.notices.append(reason)
            self._give_up(outcome, Shutdown(reason=reason))
            return
        self._validated(trial, event.time, losses, outcome)

    def _handle_end(self, trial: int, how: str, outcome: Outcome) -> None:
        was_stopping = not self._trials.is_running(trial)
        self._trials.mark(trial, CLOSED if was_stopping else how)
        if self._has_failed_too_often():
            reason = f"{self._trials.count(FAILED)} trials failed; max_failed_trials allows {self._max_failed}."
            outcome.notices.append(reason)
            self._give_up(outcome, Shutdown(failed=True, reason=reason))
            return
        if not was_stopping:
            self._ended(trial, outcome)

    def _has_failed_too_often(self) -> bool:
        return self._max_failed is not None and self._trials.count(FAILED) > self._max_failed

    def _finish(self, outcome: Outcome) -> None:
        counted = len(self._trials.ids)
        failed = counted > 0 and self._trials.count(FAILED) + self._trials.count(INVALID) == counted
        cancelled = counted > 0 and self._trials.count(CANCELED) == counted
        reason = "Every trial failed." if failed else "Every trial was cancelled." if cancelled else ""
        outcome.actions.append(Shutdown(failed=failed, cancelled=cancelled, reason=reason))
        self._is_over = True

    def _tell_nan(self, event: Validated, outcome: Outcome) -> None:
        if self._has_told_nan:
            return
        self._has_told_nan = True
        shown = ", ".join(f"{name} = {event.metrics.get(name)}" for name in self._objective.names)
        outcome.notices.append(
            f"Trial {event.request_id} reported {shown} at {event.time:g}. Values that are missing or not finite "
            "count as the worst; this is said once per search."
        )


_ENDS: dict[ExitReason, str] = {
    ExitReason.ERRORED: FAILED,
    ExitReason.INVALID_HP: INVALID,
    ExitReason.USER_REQUESTED_STOP: CLOSED,
    ExitReason.USER_CANCELED: CANCELED,
}
