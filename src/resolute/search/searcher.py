"""The one interface every search algorithm meets. Pure: no clock, no I/O, no global random state.

A searcher is a state machine. `handle` takes an event and answers with actions; `snapshot` returns its whole
state as JSON-ready values, random generator included, so that `restore_searcher(config, snapshot)` continues with
exactly the decisions the original would have made. The engine stores the snapshot in the transaction of the event.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from resolute.search.events import Event, Outcome


class Searcher(Protocol):
    def handle(self, event: Event) -> Outcome:
        """Take an event in. Events about unknown or closed trials are ignored."""

    def progress(self) -> float:
        """0 to 1."""

    def snapshot(self) -> dict[str, Any]:
        """The whole state, made of JSON values only."""


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """A finished trial of this or another experiment, as a start for a new search."""

    hparams: Mapping[str, Any]
    metrics: Mapping[str, float]
    time: float = 0.0
    """Training length in the searcher's unit at which the metrics were measured."""
