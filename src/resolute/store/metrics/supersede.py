"""Which reports a restart has replaced. Pure: decided when reading, so that nothing is ever rewritten for it.

When run r first reports in a group at step s, the entries of older runs from s on are archived.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of one (trial, group, run) without reading its chunks."""

    trial_id: int
    group: str
    run_id: int
    first_steps: int
    last_steps: int
    count: int
    last_id: int
    """Largest id given to a report of this head; ids grow per trial, over all groups and runs."""
    revision: int = 0
    """Raised when stored points changed in place."""
    small_chunks: int = 0


def cutoffs(heads: Iterable[Head]) -> dict[int, int | None]:
    """Run to the first step that is archived; None: nothing is. `heads` are those of one group of one trial."""
    cutoff: int | None = None
    found: dict[int, int | None] = {}
    for head in sorted(heads, key=lambda head: -head.run_id):
        found[head.run_id] = cutoff
        cutoff = head.first_steps if cutoff is None else min(cutoff, head.first_steps)
    return found


def is_archived(steps: int, cutoff: int | None) -> bool:
    return cutoff is not None and steps >= cutoff
