"""What is asked of a runner with a pool whose engine places."""

from pathlib import Path
from typing import Protocol

import pytest

from resolute.domain.allocation import NodeShare
from resolute.domain.gang import Phase
from resolute.engine.ports.runner import Gang, Runner
from resolute.runners.contract.patience import ended, until


class Delegating(Protocol):
    """A runner whose engine has no room at first. The name of a gang is its allocation id."""

    runner: Runner

    def unplaced(self, name: str, slots: int) -> Gang:
        """One without nodes, for the delegating pool, that ends when it is told to."""

    def make_room(self, name: str, shares: tuple[NodeShare, ...]) -> None:
        """The engine starts it: there, or wherever it sees fit."""


class DelegatingContract:
    @pytest.fixture
    def subject(self, tmp_path: Path) -> Delegating:
        raise NotImplementedError("Give the class a fixture `subject` of its own.")

    def test_the_pool_of_the_gang_is_declared_as_delegating(self, subject: Delegating) -> None:
        wanted = subject.unplaced("a.1", 2).resource_pool

        assert [pool.is_delegating for pool in subject.runner.pools() if pool.name == wanted] == [True]

    def test_a_gang_that_the_engine_has_no_room_for_is_pending_and_has_no_shares(self, subject: Delegating) -> None:
        handle = subject.runner.start(subject.unplaced("a.1", 2))

        status = subject.runner.poll([handle])[handle]

        assert (status.phase, status.shares, status.is_over) == (Phase.PENDING, (), False)
        assert handle in subject.runner.running()

    def test_a_gang_that_was_placed_says_where(self, subject: Delegating) -> None:
        handle = subject.runner.start(subject.unplaced("a.1", 2))

        subject.make_room("a.1", (NodeShare("x", (0,)), NodeShare("y", (0,))))

        until(lambda: subject.runner.poll([handle])[handle].shares)
        status = subject.runner.poll([handle])[handle]
        assert sum(len(share.slot_ids) for share in status.shares) == 2
        assert len(status.addresses) in (0, len(status.shares))

    def test_a_gang_that_was_never_placed_can_be_stopped(self, subject: Delegating) -> None:
        handle = subject.runner.start(subject.unplaced("a.1", 2))

        subject.runner.stop(handle, force=True)

        assert ended(subject.runner, handle).exit_code == 137
