"""Weighted fair shares: how many slots each job is offered. Pure arithmetic; `placement` acts on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """All claims of one job in one pool."""

    job_id: str
    weight: float
    demand: int
    """Slots held and wanted, already capped by the job's max_slots."""
    pinned: int
    """Slots held by claims that cannot be preempted; they are the job's whatever the shares say."""
    smallest: int
    """Slots of its smallest claim: an offer below that helps nobody."""
    registered_at: datetime


def offers(groups: Sequence[Group], capacity: int) -> dict[str, int]:
    """Slots per job. Repeats weighted rounds; when they run out, the newest job whose offer is too small for its
    smallest claim steps back, so that two gangs never hold half a machine each."""
    enabled = sorted((g for g in groups if g.demand > 0), key=lambda g: (g.registered_at, g.job_id))
    pinned = {g.job_id: g.pinned for g in groups}
    while True:
        offered, left = _share_out(enabled, capacity - sum(pinned.values()))
        too_small = [g for g in enabled if offered[g.job_id] < min(g.smallest, g.demand)]
        if left > 0 or not too_small:
            return {job: max(offered.get(job, 0), kept) for job, kept in pinned.items()}
        enabled.remove(too_small[-1])


def _share_out(groups: Sequence[Group], unpinned: int) -> tuple[dict[str, int], int]:
    offered = {g.job_id: 0 for g in groups}
    prepaid = {g.job_id: g.pinned for g in groups}
    left = max(0, unpinned)
    while True:
        hungry = [g for g in groups if offered[g.job_id] < g.demand]
        total_weight = sum(g.weight for g in hungry)
        start = left + sum(prepaid[g.job_id] for g in hungry)
        if not hungry or start == 0:
            return offered, left
        granted = 0
        for group in hungry:
            job = group.job_id
            share = max(1, int(start * group.weight / total_weight)) if total_weight > 0 else 1
            share = min(share, group.demand - offered[job], left + prepaid[job])
            from_prepaid = min(share, prepaid[job])
            prepaid[job] -= from_prepaid
            left -= share - from_prepaid
            offered[job] += share
            granted += share
        if granted == 0:
            return offered, left
