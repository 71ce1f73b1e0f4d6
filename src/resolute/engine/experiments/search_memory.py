"""Searches between two events: stored as a snapshot with the patches since, and remembered so as not to be read again.

The store decides which state a search is in: each has a stamp that no other state of any search ever has. What is
remembered here is looked up by that stamp, so a transaction that was rolled back, a second master or a restored
backup cannot bring back a state that the database does not hold.
"""

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass

from resolute.domain.experiment import Experiment
from resolute.engine.experiments.configuration import configuration_of
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import SearcherHead
from resolute.search.patch import changes
from resolute.search.registry import restore_searcher
from resolute.search.searcher import Searcher

PATCHES_PER_SNAPSHOT = 256
"""More make a restart slower to read, fewer make the whole snapshot a larger part of the writing."""
MOST_REMEMBERED = 64
"""Searches kept in memory; the one that was silent for longest is read from the store when it wakes."""


@dataclass(slots=True)
class Search:
    searcher: Searcher
    snapshot: dict[str, object]
    """As the store has it."""


class _Memory:
    """By stamp. Whoever takes a search out is the only one to change it."""

    def __init__(self) -> None:
        self._searches: OrderedDict[str, Search] = OrderedDict()
        self._turn = threading.Lock()

    def take(self, stamp: str) -> Search | None:
        with self._turn:
            return self._searches.pop(stamp, None)

    def keep(self, stamp: str, search: Search) -> None:
        with self._turn:
            self._searches[stamp] = search
            if len(self._searches) > MOST_REMEMBERED:
                self._searches.popitem(last=False)


_memory = _Memory()


def recall(tx: Transaction, experiment: Experiment, head: SearcherHead) -> Search:
    """The search as stored. It is no longer remembered until `write_down`, so a failure in between leaves no trace."""
    remembered = _memory.take(head.stamp)
    if remembered is not None:
        return remembered
    snapshot = tx.experiments.searcher_snapshot(experiment.id)
    assert snapshot is not None, f"experiment {experiment.id} has a head and no snapshot"
    return Search(restored_searcher(experiment, snapshot), snapshot)


def restored_searcher(experiment: Experiment, snapshot: dict[str, object]) -> Searcher:
    config = configuration_of(experiment)
    return restore_searcher(config.searcher.resolved(), config.hyperparameters.resolved(), snapshot)


def write_down(tx: Transaction, experiment_id: int, head: SearcherHead, search: Search) -> None:
    """Store what changed since `head`, in the transaction of the event that changed it."""
    snapshot = search.searcher.snapshot()
    patch = changes(search.snapshot, snapshot)
    if patch is None and head.stamp:
        _memory.keep(head.stamp, search)
        return
    stamp = secrets.token_hex(16)
    if patch is None or head.patches >= PATCHES_PER_SNAPSHOT:
        tx.experiments.save_searcher_snapshot(experiment_id, snapshot, stamp=stamp)
    else:
        tx.experiments.add_searcher_patch(experiment_id, patch, number=head.patches + 1, stamp=stamp)
    _memory.keep(stamp, Search(search.searcher, snapshot))
