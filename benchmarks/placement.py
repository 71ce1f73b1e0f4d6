"""How many placements a second the scheduler decides: 10,000 slots, 50,000 queued jobs.

    python benchmarks/placement.py [--nodes 1250] [--slots 8] [--jobs 50000]

Three pictures: an empty cluster that fills in one pass, a full cluster in which half of what runs must make room for
more important gangs, and the same queue under fair share. Best of three passes each; only `place` is timed.
"""

import argparse
import random
import time
from datetime import UTC, datetime, timedelta

from resolute.domain.allocation import NodeShare
from resolute.domain.claim import Claim, ClaimState, Decision
from resolute.domain.node import Node, Slot
from resolute.domain.placement import Scheduler, place

START = datetime(2026, 1, 1, tzinfo=UTC)


def cluster(nodes: int, slots: int) -> list[Node]:
    return [Node(f"node-{n:05d}", tuple(Slot(s) for s in range(slots))) for n in range(nodes)]


def queue(count: int, sizes: list[int], rng: random.Random, *, first_priority: int = 1) -> list[Claim]:
    return [
        Claim(
            allocation_id=f"a{n}",
            job_id=f"j{n}" if sizes == [1] else f"j{n % 500}",
            slots=rng.choice(sizes),
            priority=rng.randint(first_priority, 99),
            queue_position=float(n),
            created_at=START + timedelta(seconds=n),
        )
        for n in range(count)
    ]


def full(nodes: list[Node]) -> list[Claim]:
    """Every slot held by a one-slot claim of the lowest priority."""
    return [
        Claim(
            allocation_id=f"h{node.id}.{slot.id}",
            job_id="background",
            slots=1,
            priority=99,
            created_at=START,
            state=ClaimState.HELD,
            shares=(NodeShare(node.id, (slot.id,)),),
        )
        for node in nodes
        for slot in node.slots
    ]


def timed(nodes: list[Node], claims: list[Claim], scheduler: Scheduler = "priority") -> tuple[float, Decision]:
    best, decision = float("inf"), Decision()
    for _ in range(3):
        begin = time.perf_counter()
        decision = place(nodes, claims, scheduler=scheduler)
        best = min(best, time.perf_counter() - begin)
    return best, decision


def report(name: str, seconds: float, decisions: int) -> None:
    print(f"{name:<42} {decisions:>7} decisions {seconds:7.3f} s {decisions / seconds:>10,.0f}/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1250)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=50_000)
    given = parser.parse_args()
    rng = random.Random(7)
    nodes = cluster(given.nodes, given.slots)
    print(f"{given.nodes * given.slots} slots on {given.nodes} nodes, {given.jobs} queued")

    seconds, decision = timed(nodes, queue(given.jobs, [1], rng))
    report("empty cluster, one-slot jobs", seconds, len(decision.assign))

    seconds, decision = timed(nodes, queue(given.jobs, [1, 1, 2, 4, 8, 16, 32], rng))
    report("empty cluster, gangs of 1 to 32", seconds, len(decision.assign))

    seconds, decision = timed(nodes, full(nodes) + queue(given.jobs, [1, 2, 4, 8], rng))
    report("full cluster, preempting for gangs", seconds, len(decision.assign) + len(decision.preempt))

    seconds, decision = timed(nodes, full(nodes) + queue(given.jobs, [1], rng, first_priority=99))
    report("full cluster, nothing to do", seconds, given.jobs)

    seconds, decision = timed(nodes, queue(given.jobs, [1, 1, 2, 4, 8], rng), "fair_share")
    report("empty cluster, fair share of 500 jobs", seconds, len(decision.assign))


if __name__ == "__main__":
    main()
