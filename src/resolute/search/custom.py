"""`custom`: somebody else decides. Events queue here until a program asks for them; the actions it tells are checked.

The program may be the user's own class driven by `answer`, or anything that speaks the API. The queue is part of the
snapshot, so neither side loses an event when the other dies. Telling the same answer twice changes nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from resolute.domain.errors import InvalidInput
from resolute.search.base import DEFAULT_CONCURRENCY, BaseSearcher
from resolute.search.codec import action_from_json, action_to_json, event_from_json, event_to_json
from resolute.search.events import (
    Action,
    CreateTrial,
    Event,
    Outcome,
    SearchStarted,
    Shutdown,
    StopTrial,
    TrainTo,
    TrialClosed,
    TrialProgressed,
)
from resolute.search.rng import Rng
from resolute.search.space import Space
from resolute.search.trial_table import STOPPING


class CustomSearcher(BaseSearcher):
    needs_free_parameter = False

    def __init__(self, searcher: Mapping[str, Any], space: Space, rng: Rng) -> None:
        super().__init__(searcher, space, rng)
        self._max_trials: int | None = searcher.get("max_trials")
        self._max_concurrent = int(searcher.get("max_concurrent_trials", DEFAULT_CONCURRENCY))
        self._events: list[dict[str, Any]] = []
        self._next_id = 1
        self._reported_progress: float | None = None
        self._held: list[CreateTrial] = []
        """Asked for while every place was taken."""

    def handle(self, event: Event) -> Outcome:
        if not self._is_over and not isinstance(event, TrialProgressed) and self._concerns(event):
            self._queue(event)
        outcome = super().handle(event)
        self._release(outcome)
        return outcome

    def ask(self) -> list[dict[str, Any]]:
        """Events nobody has answered yet, oldest first, each with its `id`."""
        return [dict(event) for event in self._events]

    def tell(self, actions: Iterable[Mapping[str, Any]], *, up_to: int, progress: float | None = None) -> Outcome:
        """Actions in answer to all events up to and including id `up_to`. An answer given before is ignored.

        Trials beyond `max_concurrent_trials` begin when others have ended.
        """
        outcome = Outcome()
        first = self._events[0]["id"] if self._events else self._next_id
        if up_to < first or self._is_over:
            return outcome
        if up_to >= self._next_id:
            raise InvalidInput(
                f"There is no event {up_to} to answer; the newest is {self._next_id - 1}. Answer only what was asked."
            )
        checked = self._checked(actions)
        self._events = [event for event in self._events if event["id"] > up_to]
        for action in checked:
            self._apply(action, outcome)
        self._release(outcome)
        if progress is not None:
            self._reported_progress = float(progress)
        return outcome

    def _queue(self, event: Event) -> None:
        self._events.append({"id": self._next_id, **event_to_json(event)})
        self._next_id += 1

    def _release(self, outcome: Outcome) -> None:
        while self._held and not self._is_over and self._has_place():
            action = self._held.pop(0)
            self._trials.add(action.request_id)
            outcome.actions.append(action)

    def _has_place(self) -> bool:
        return not self._max_concurrent or len(self._trials.open) < self._max_concurrent

    def _concerns(self, event: Event) -> bool:
        if isinstance(event, SearchStarted):
            return not self._is_started
        return self._trials.index.get(event.request_id) in self._trials.open

    def _checked(self, actions: Iterable[Mapping[str, Any]]) -> list[Action]:
        parsed = [action_from_json(self._completed(action)) for action in actions]
        ids = [action.request_id for action in parsed if isinstance(action, CreateTrial)]
        created = set(ids)
        if len(created) < len(ids):
            raise InvalidInput(f"Two of these trials have the same id ({', '.join(ids)}); give each its own, or none.")
        held = {action.request_id for action in self._held}
        known = {self._trials.ids[trial] for trial in self._trials.open} | held | created
        for action in parsed:
            if isinstance(action, TrainTo | StopTrial) and action.request_id not in known:
                raise InvalidInput(f"{type(action).__name__} names trial {action.request_id}, which is not open.")
        total = len(self._trials.ids) + len(held) + len(created)
        if self._max_trials is not None and total > self._max_trials:
            raise InvalidInput(f"These actions make {total} trials; searcher.max_trials allows {self._max_trials}.")
        return parsed

    def _completed(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        """A trial to create needs no more than the hyperparameters its author cares about."""
        if action.get("kind") != "create_trial":
            return action
        hparams = dict(action.get("hparams") or {})
        chosen = self._space.complete(self._space.flat(hparams), self._rng)
        request_id = action.get("request_id") or self._rng.uuid()
        if request_id in self._trials.index or any(held.request_id == request_id for held in self._held):
            raise InvalidInput(f"There is a trial {request_id} already; give each trial an id of its own, or none.")
        seed = action.get("seed")
        return {
            **action,
            "request_id": request_id,
            "seed": self._rng.seed() if seed is None else seed,
            "hparams": _joined(self._space.nested(chosen), self._space.strangers(hparams)),
        }

    def _apply(self, action: Action, outcome: Outcome) -> None:
        if isinstance(action, CreateTrial):
            self._held.append(action)
        elif isinstance(action, Shutdown):
            # What was asked for before the end, and has a place, still begins.
            self._release(outcome)
            self._is_over = True
            self._held = []
            outcome.actions.append(action)
        elif action.request_id in self._trials.index:
            if isinstance(action, StopTrial):
                self._trials.mark(self._trials.index[action.request_id], STOPPING)
            outcome.actions.append(action)
        else:
            self._change_held(action)

    def _change_held(self, action: TrainTo | StopTrial) -> None:
        """A trial that has not begun begins with the new target, or never."""
        at = [held.request_id for held in self._held].index(action.request_id)
        if isinstance(action, TrainTo):
            self._held[at] = replace(self._held[at], train_to=action.length)
            return
        self._held.pop(at)
        self._queue(TrialClosed(action.request_id))

    def _begin(self, outcome: Outcome) -> None:
        """Nothing happens before somebody answers."""

    def _validated(self, trial: int, time: float, losses: tuple[float, ...], outcome: Outcome) -> None:
        """Queued already."""

    def _ended(self, trial: int, outcome: Outcome) -> None:
        """Queued already."""

    def _is_exhausted(self) -> bool:
        return False

    def _share_done(self) -> float:
        if self._reported_progress is not None:
            return self._reported_progress
        ended = len(self._trials.ids) - len(self._trials.open)
        return ended / max(self._max_trials or len(self._trials.ids) + len(self._held), 1)

    def _state(self) -> dict[str, Any]:
        return {
            "events": [dict(event) for event in self._events],
            "next_id": self._next_id,
            "reported_progress": self._reported_progress,
            "held": [action_to_json(action) for action in self._held],
        }

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._events = [dict(event) for event in state["events"]]
        self._next_id = state["next_id"]
        self._reported_progress = state["reported_progress"]
        held = [action_from_json(written) for written in state.get("held", [])]
        self._held = [action for action in held if isinstance(action, CreateTrial)]


def _joined(one: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both trees in one; they have no leaf in common."""
    for key, value in other.items():
        is_branch = isinstance(value, Mapping) and isinstance(one.get(key), dict)
        one[key] = _joined(one[key], value) if is_branch else value
    return one


class UserSearcher(Protocol):
    """What a user's own class has: the same `handle` that every searcher has."""

    def handle(self, event: Event) -> Outcome: ...


def answer(user: UserSearcher, events: Iterable[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """Let `user` decide about queued events; returns what to `tell` and the last event's id (0: there was none)."""
    actions: list[dict[str, Any]] = []
    last = 0
    for queued in events:
        written = dict(queued)
        last = int(written.pop("id"))
        actions += [action_to_json(action) for action in user.handle(event_from_json(written)).actions]
    return actions, last
