"""Asynchronous successive halving, in one bracket (`async_halving`) or several (`adaptive_asha`), in two styles.

Stopping: a trial runs on by itself and is stopped when it falls out of the top fraction at a rung.
Promotion: a trial waits at each rung until it belongs to the top fraction, and is then given a longer target.
Places that one bracket no longer needs go to the others, so that no slot idles while there is work.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from resolute.search.base import DEFAULT_CONCURRENCY, BaseSearcher, BracketView
from resolute.search.brackets import BracketPlan, bracket_trials, divisor_of, plan_halving
from resolute.search.enumeration import give_up_on_invalid
from resolute.search.events import Outcome, Shutdown, TrainTo
from resolute.search.objective import WORST
from resolute.search.rng import Rng
from resolute.search.rung import Patience, Rung
from resolute.search.space import Assignment, Space
from resolute.search.tracked_list import TrackedList
from resolute.search.trial_table import CANCELED, FAILED, INVALID


class Bracket:
    """The rungs of one bracket and how many trials it has had. `created` leaves invalid trials out."""

    def __init__(self, plan: BracketPlan) -> None:
        self.rungs = [Rung(units) for units in plan.lengths]
        self.max_trials = plan.max_trials
        self.places = plan.places
        self.created = 0
        self._written: dict[str, Any] = {}

    @property
    def has_budget(self) -> bool:
        return self.created < self.max_trials

    def snapshot(self) -> dict[str, Any]:
        """The same object until something changes; not for changing by the caller."""
        rungs = [rung.snapshot() for rung in self.rungs]
        fresh = {"rungs": rungs, "max_trials": self.max_trials, "places": self.places, "created": self.created}
        if fresh != self._written:
            self._written = fresh
        return self._written

    @classmethod
    def of_snapshot(cls, snapshot: Mapping[str, Any]) -> "Bracket":
        rungs = [Rung.of_snapshot(rung) for rung in snapshot["rungs"]]
        bracket = cls(BracketPlan((), snapshot["max_trials"], snapshot["places"]))
        bracket.rungs = rungs
        bracket.created = snapshot["created"]
        return bracket


class HalvingSearcher(BaseSearcher):
    needs_free_parameter = False

    def __init__(self, searcher: Mapping[str, Any], space: Space, rng: Rng) -> None:
        super().__init__(searcher, space, rng)
        self._divisor = divisor_of(searcher)
        self._patience = Patience(searcher.get("patience"))
        self._max_trials = int(searcher["max_trials"])
        self._concurrency = int(searcher.get("max_concurrent_trials", DEFAULT_CONCURRENCY))
        self._brackets = [Bracket(plan) for plan in self._plan(searcher)]
        self._bracket_of: TrackedList[int] = TrackedList()
        self._rung_of: TrackedList[int] = TrackedList()

    def _plan(self, searcher: Mapping[str, Any]) -> list[BracketPlan]:
        return plan_halving(searcher)

    def milestones(self) -> list[int]:
        return sorted({rung.units for bracket in self._brackets for rung in bracket.rungs})

    def bracket_views(self) -> list[BracketView]:
        return [
            BracketView(
                tuple(rung.units for rung in bracket.rungs),
                bracket.max_trials,
                tuple(len(rung.order) for rung in bracket.rungs),
            )
            for bracket in self._brackets
        ]

    def _begin(self, outcome: Outcome) -> None:
        for at, bracket in enumerate(self._brackets):
            for _ in range(min(bracket.places, bracket.max_trials - bracket.created)):
                self._create_in(at, outcome)
        self._refill(0, outcome)

    def _propose(self, bracket: int) -> Assignment:
        return self._draw()

    def _create_in(self, at: int, outcome: Outcome) -> None:
        bracket = self._brackets[at]
        bracket.created += 1
        bracket.rungs[0].expect()
        self._bracket_of.append(at)
        self._rung_of.append(0)
        self._create(self._propose(at), outcome, train_to=self._first_target(bracket))

    def _first_target(self, bracket: Bracket) -> int | None:
        return None

    def _refill(self, preferred: int, outcome: Outcome) -> None:
        """Use free places, first in the bracket where one came free."""
        places = self._concurrency or sum(bracket.places for bracket in self._brackets)
        order = [preferred, *range(len(self._brackets))]
        while self._in_training() < places:
            at = next((at for at in order if self._brackets[at].has_budget), None)
            if at is None:
                return
            self._create_in(at, outcome)

    @abstractmethod
    def _in_training(self) -> int:
        """Trials that have slots or want them."""

    def _drop_invalid(self, trial: int, outcome: Outcome) -> None:
        bracket = self._brackets[self._bracket_of[trial]]
        bracket.created -= 1
        for rung in bracket.rungs[: self._rung_of[trial] + 1]:
            rung.remove(trial)
        if give_up_on_invalid(self._trials.count(INVALID), self._max_trials):
            reason = f"{self._trials.count(INVALID)} trials had invalid hyperparameters; narrow the hyperparameters."
            self._give_up(outcome, Shutdown(failed=True, reason=reason))

    def _worst(self) -> tuple[float, ...]:
        return (WORST,) * len(self._objective.names)

    def _share_done(self) -> float:
        """A fifth is kept back for trials that train on after the last one has begun."""
        shares = [len(bracket.rungs[0].order) / (1.2 * bracket.max_trials) for bracket in self._brackets]
        return sum(shares) / len(shares)

    def _add_budget(self, searcher: Mapping[str, Any]) -> None:
        more = self._max_trials - sum(bracket.max_trials for bracket in self._brackets)
        if more <= 0:
            return
        rungs = [len(bracket.rungs) for bracket in self._brackets]
        shares = bracket_trials(more, self._divisor, rungs[:more])
        for bracket, share in zip(self._brackets, shares, strict=False):
            bracket.max_trials += share
            bracket.places = max(bracket.places, 1)

    def _state(self) -> dict[str, Any]:
        return {
            "brackets": [bracket.snapshot() for bracket in self._brackets],
            "bracket_of": self._bracket_of.written(),
            "rung_of": self._rung_of.written(),
        }

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._brackets = [Bracket.of_snapshot(bracket) for bracket in state["brackets"]]
        self._bracket_of = TrackedList(state["bracket_of"])
        self._rung_of = TrackedList(state["rung_of"])


class StoppingHalving(HalvingSearcher):
    def _validated(self, trial: int, time: float, losses: tuple[float, ...], outcome: Outcome) -> None:
        at = self._bracket_of[trial]
        rungs = self._brackets[at].rungs
        first = self._rung_of[trial]
        for number in range(first, len(rungs)):
            if number > first:
                self._rung_of[trial] = number
            if time < rungs[number].units:
                return
            place = rungs[number].insert(trial, losses, newest_first=True)
            is_top = number == len(rungs) - 1
            if is_top or not self._may_go_on(trial, at, number, place):
                self._stop(trial, outcome)
                self._refill(at, outcome)
                return

    def _may_go_on(self, trial: int, at: int, number: int, place: int) -> bool:
        rung = self._brackets[at].rungs[number]
        return place < rung.quota(self._divisor) or self._patience.spares(number, rung.units)

    def _ended(self, trial: int, outcome: Outcome) -> None:
        at, status = self._bracket_of[trial], self._trials.status[trial]
        if status == INVALID:
            self._drop_invalid(trial, outcome)
        elif status in (FAILED, CANCELED):
            self._brackets[at].rungs[self._rung_of[trial]].insert(trial, self._worst(), newest_first=True)
        if not self._is_over:
            self._refill(at, outcome)

    def _in_training(self) -> int:
        return self._trials.count("r")

    def _woken(self, trial: int) -> None:
        self._brackets[self._bracket_of[trial]].rungs[self._rung_of[trial]].remove(trial)


class PromotionHalving(HalvingSearcher):
    def __init__(self, searcher: Mapping[str, Any], space: Space, rng: Rng) -> None:
        super().__init__(searcher, space, rng)
        self._waiting: set[int] = set()

    def _first_target(self, bracket: Bracket) -> int | None:
        return bracket.rungs[0].units

    def _plan(self, searcher: Mapping[str, Any]) -> list[BracketPlan]:
        """Each promotion gives at least one more unit, also where two rungs have the same length."""
        plans = []
        for plan in super()._plan(searcher):
            lengths = [plan.lengths[0]]
            for lower, upper in zip(plan.lengths, plan.lengths[1:], strict=False):
                lengths.append(lengths[-1] + max(upper - lower, 1))
            plans.append(BracketPlan(tuple(lengths), plan.max_trials, plan.places))
        return plans

    def _validated(self, trial: int, time: float, losses: tuple[float, ...], outcome: Outcome) -> None:
        at = self._bracket_of[trial]
        rung = self._brackets[at].rungs[self._rung_of[trial]]
        if trial in self._waiting or time < rung.units:
            return
        self._reached(trial, losses, outcome)
        self._refill(at, outcome)
        self._close_out(at, outcome)

    def _ended(self, trial: int, outcome: Outcome) -> None:
        at = self._bracket_of[trial]
        if self._trials.status[trial] == INVALID:
            if trial not in self._waiting:
                self._brackets[at].rungs[self._rung_of[trial]].expect(-1)
            self._waiting.discard(trial)
            self._drop_invalid(trial, outcome)
        elif trial not in self._waiting:
            self._reached(trial, self._worst(), outcome)
        if not self._is_over:
            self._refill(at, outcome)
            self._close_out(at, outcome)

    def _reached(self, trial: int, losses: tuple[float, ...], outcome: Outcome) -> None:
        """A result at the trial's rung: perhaps this trial, perhaps another one, may go up."""
        rungs = self._brackets[self._bracket_of[trial]].rungs
        number = self._rung_of[trial]
        rung = rungs[number]
        rung.expect(-1)
        self._waiting.add(trial)
        place = rung.insert(trial, losses, newest_first=False)
        if number == len(rungs) - 1:
            self._waiting.discard(trial)
            self._stop(trial, outcome)
            return
        chosen = self._choose(rung, number, place)
        if chosen is not None:
            self._promote(chosen, rung, outcome)

    def _choose(self, rung: Rung, number: int, place: int) -> int | None:
        if self._patience.spares(number, rung.units):
            return rung.order[place]
        allowed = int(len(rung.order) / self._divisor)
        before = int((len(rung.order) - 1) / self._divisor)
        if place < allowed:
            return rung.order[place]
        if allowed > before and rung.order[before] not in rung.promoted:
            return rung.order[before]
        return None

    def _promote(self, trial: int, rung: Rung, outcome: Outcome) -> None:
        rung.promote(trial)
        self._waiting.discard(trial)
        self._rung_of[trial] += 1
        upper = self._brackets[self._bracket_of[trial]].rungs[self._rung_of[trial]]
        upper.expect()
        if self._trials.is_running(trial):
            outcome.actions.append(TrainTo(self._trials.ids[trial], upper.units))
            return
        # It has ended meanwhile: as if it had trained and come in last.
        self._reached(trial, self._worst(), outcome)

    def _close_out(self, at: int, outcome: Outcome) -> None:
        """Once rung 0 is full, nobody joins a rung that has no one on the way to it or below it."""
        bracket = self._brackets[at]
        if len(bracket.rungs[0].order) < bracket.max_trials:
            return
        for rung in bracket.rungs:
            if rung.outstanding > 0:
                return
            for trial in rung.order:
                if trial not in rung.promoted:
                    self._waiting.discard(trial)
                    self._stop(trial, outcome)

    def _woken(self, trial: int) -> None:
        rung = self._brackets[self._bracket_of[trial]].rungs[self._rung_of[trial]]
        rung.remove(trial)
        rung.expect()
        self._waiting.discard(trial)

    def _in_training(self) -> int:
        return sum(rung.outstanding for bracket in self._brackets for rung in bracket.rungs)

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "waiting": sorted(self._waiting)}

    def _load_state(self, state: Mapping[str, Any]) -> None:
        super()._load_state(state)
        self._waiting = set(state["waiting"])
