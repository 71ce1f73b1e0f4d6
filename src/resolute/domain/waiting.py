"""Why a claim on slots waits: a value that the scheduler's pass leaves behind, and the sentence it becomes. Pure.

A value names jobs by id. Whoever asks passes the names of those that he may see; the others are counted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class WaitingFor(StrEnum):
    """Clients may match on these; sentences may change."""

    SCHEDULER = "SCHEDULER"
    """It has not been looked at since it was queued, or since the master started."""
    POOL = "POOL"
    """Its pool is no longer there."""
    NOTHING = "NOTHING"
    """It can never start as things are: it fits no node of the pool, however empty."""
    ENABLING = "ENABLING"
    """It would fit, were all nodes and slots of the pool in service."""
    GROWTH = "GROWTH"
    """It fits none of the nodes at hand, and the pool may get others."""
    SLOTS = "SLOTS"
    """Others hold what it needs."""
    LEAVING = "LEAVING"
    """Those who hold what it needs have been asked to leave."""
    TURN = "TURN"
    """There is room, and it is kept for a job that is served first."""
    QUOTA = "QUOTA"
    """Its own job may hold no more."""
    SHARE = "SHARE"
    """Its job has its fair share."""
    CROWD = "CROWD"
    """Every node runs as many tasks without slots as it takes."""
    ENGINE = "ENGINE"
    """The engine of a delegating pool has it."""
    ANSWER = "ANSWER"
    """The engine of its pool does not answer."""
    START = "START"
    """It was placed and could not be started; it is tried again."""


MOST_NAMED = 3
"""Jobs that a sentence names; it counts the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    reason: WaitingFor
    slots: int = 0
    """Asked for; under TURN by the job that is served first."""
    free: int = 0
    """Slots that nobody holds where it could run."""
    limit: int = 0
    """The most it may have: under QUOTA and SHARE the job's, under CROWD a node's."""
    used: int = 0
    """What its job holds of `limit`."""
    jobs: tuple[str, ...] = ()
    """Ids of the jobs it waits for, at most MOST_NAMED, those that hold most first."""
    more: int = 0
    """How many others there are."""
    nodes: tuple[str, ...] = ()
    """What the pool has, or what of it is out of service, as a person would write it."""
    note: str = ""
    """A sentence of somebody else: of an engine, or why a start failed."""


NOT_LOOKED_AT = Wait(reason=WaitingFor.SCHEDULER)


def sentence(wait: Wait, *, pool: str, own_job: str = "", names: Mapping[str, str] | None = None) -> str:
    """`names`: of the jobs that the reader may see, by id."""
    return _SENTENCES[wait.reason](wait, pool, _jobs(wait, own_job, names or {}))


def _pool_gone(wait: Wait, pool: str, jobs: str) -> str:
    others = ", ".join(wait.nodes) or "none"
    return f"There is no pool {pool} any more. Move it to one of: {others}."


def _never(wait: Wait, pool: str, jobs: str) -> str:
    if not wait.nodes:
        return f"It cannot start: pool {pool} has no node."
    return (
        f"It can never start: {_slots(wait.slots)} do not fit pool {pool}, which has {_and(wait.nodes)}. "
        "A task gets slots of one node, or several whole nodes of one size."
    )


def _enabling(wait: Wait, pool: str, jobs: str) -> str:
    return f"Waits for what is disabled or draining in pool {pool}: {_and(wait.nodes)}."


def _growth(wait: Wait, pool: str, jobs: str) -> str:
    has = _and(wait.nodes) or "no node"
    return f"Waits for pool {pool} to grow: it has {has}, which is no place for {_slots(wait.slots)}."


def _held(wait: Wait, pool: str, jobs: str) -> str:
    if not jobs:
        return f"Waits for {_slots(wait.slots)} of pool {pool}."
    if not wait.free:
        return f"Waits for {_slots(wait.slots)} of pool {pool}, held by {jobs}."
    free = "1 is free" if wait.free == 1 else f"{wait.free} are free"
    return f"Waits for {_slots(wait.slots)} of pool {pool}, where {free}; the others are held by {jobs}."


def _leaving(wait: Wait, pool: str, jobs: str) -> str:
    return f"Starts when {_slots(wait.slots)} of pool {pool} are given back by {jobs}; asked to leave."


def _turn(wait: Wait, pool: str, jobs: str) -> str:
    return f"Stands behind {jobs}, which waits for {_slots(wait.slots)} of pool {pool} and is served first."


def _quota(wait: Wait, pool: str, jobs: str) -> str:
    if wait.slots > wait.limit:
        return f"It can never start: it asks for {_slots(wait.slots)}, and max_slots of its job is {wait.limit}."
    return f"Waits for other tasks of its own job: max_slots is {wait.limit}, and they hold {wait.used}."


def _share(wait: Wait, pool: str, jobs: str) -> str:
    return f"Waits for its fair share of pool {pool}: the job is offered {_slots(wait.limit)} and holds {wait.used}."


def _crowd(wait: Wait, pool: str, jobs: str) -> str:
    return f"Every node of pool {pool} runs {wait.limit} tasks without slots, the most it takes."


def _engine(wait: Wait, pool: str, jobs: str) -> str:
    said = f": {wait.note}" if wait.note else "."
    return f"Handed to the engine of pool {pool}, which has not found room for it yet{said}"


def _not_looked_at(wait: Wait, pool: str, jobs: str) -> str:
    return "The scheduler has not looked at it yet."


def _answer(wait: Wait, pool: str, jobs: str) -> str:
    return f"Waits for the engine of pool {pool}, which does not answer: {wait.note}"


def _start(wait: Wait, pool: str, jobs: str) -> str:
    return f"Could not be started, and is tried again: {wait.note}"


_SENTENCES: dict[WaitingFor, Callable[[Wait, str, str], str]] = {
    WaitingFor.SCHEDULER: _not_looked_at,
    WaitingFor.POOL: _pool_gone,
    WaitingFor.NOTHING: _never,
    WaitingFor.ENABLING: _enabling,
    WaitingFor.GROWTH: _growth,
    WaitingFor.SLOTS: _held,
    WaitingFor.LEAVING: _leaving,
    WaitingFor.TURN: _turn,
    WaitingFor.QUOTA: _quota,
    WaitingFor.SHARE: _share,
    WaitingFor.CROWD: _crowd,
    WaitingFor.ENGINE: _engine,
    WaitingFor.ANSWER: _answer,
    WaitingFor.START: _start,
}


def _jobs(wait: Wait, own_job: str, names: Mapping[str, str]) -> str:
    named = [names[job] for job in wait.jobs if job in names and job != own_job]
    hidden = wait.more + sum(job not in names and job != own_job for job in wait.jobs)
    if own_job in wait.jobs:
        named.append("other tasks of its own job")
    if hidden:
        other = "other " if named else ""
        named.append(f"{hidden} {other}job{'s' if hidden > 1 else ''}")
    return _and(named)


def _slots(count: int) -> str:
    return "1 slot" if count == 1 else f"{count} slots"


def _and(parts: tuple[str, ...] | list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
