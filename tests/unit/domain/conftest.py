"""Small builders for scheduling tests."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from resolute.domain.allocation import NodeShare
from resolute.domain.claim import Claim, ClaimState
from resolute.domain.node import Node, Slot

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Pool:
    """Makes nodes and claims with names and times that tests can read."""

    def nodes(self, *sizes: int) -> list[Node]:
        return [Node(f"n{i}", tuple(Slot(s) for s in range(size))) for i, size in enumerate(sizes)]

    def queued(self, name: str, slots: int = 1, *, age: int = 0, **given: Any) -> Claim:
        given.setdefault("job_id", f"job-{name}")
        return Claim(allocation_id=name, slots=slots, created_at=NOON - timedelta(seconds=age), **given)

    def held(self, name: str, *shares: tuple[str, list[int]], age: int = 0, **given: Any) -> Claim:
        slots = sum(len(ids) for _, ids in shares)
        on = tuple(NodeShare(node, tuple(ids)) for node, ids in shares)
        return self.queued(name, slots, age=age, state=ClaimState.HELD, shares=on, **given)


@pytest.fixture
def pool() -> Pool:
    return Pool()
