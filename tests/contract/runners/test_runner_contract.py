"""The runners of this repository keep what every runner promises."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from resolute.domain.allocation import NodeShare
from resolute.domain.node import Pool
from resolute.engine.ports.runner import Gang, GangStatus, NodePart
from resolute.runners.composite import CompositeRunner
from resolute.runners.contract import DelegatingContract, RunnerContract
from resolute.runners.fake import FakeRunner
from resolute.runners.local import LocalRunner
from resolute.runners.polled import PolledRunner

ENDLESS = "sleep 600"


class Fake:
    def __init__(self) -> None:
        self.runner = FakeRunner(2, pools=[Pool("engine", is_delegating=True)])

    def ending(self, name: str, exit_code: int) -> Gang:
        self.runner.exit_codes[name] = exit_code
        return gang_of(name, f"exit {exit_code}")

    def endless(self, name: str) -> Gang:
        return gang_of(name, ENDLESS)

    def unplaced(self, name: str, slots: int) -> Gang:
        return Gang(
            allocation_id=name,
            task_id=name,
            run_id=1,
            entrypoint=ENDLESS,
            env={},
            slots=slots,
            resource_pool="engine",
        )

    def make_room(self, name: str, shares: Sequence[NodeShare]) -> None:
        self.runner.place(name, shares)

    def reopened(self) -> FakeRunner:
        return self.runner

    def started_count(self) -> int:
        return len(self.runner.started)


class Local:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.runner = self.reopened()

    def ending(self, name: str, exit_code: int) -> Gang:
        return gang_of(name, f"echo started; exit {exit_code}", str(self.home / "log"))

    def endless(self, name: str) -> Gang:
        return gang_of(name, f"echo started; {ENDLESS}", str(self.home / "log"))

    def reopened(self) -> LocalRunner:
        return LocalRunner(home=self.home, slots=2, node_id="here", warm=False)

    def started_count(self) -> int:
        return (self.home / "log").read_text().count("started")


class TestFakeRunner(RunnerContract, DelegatingContract):
    @pytest.fixture
    def subject(self) -> Fake:
        return Fake()


class TestLocalRunner(RunnerContract):
    @pytest.fixture
    def subject(self, tmp_path: Path) -> Iterator[Local]:
        subject = Local(tmp_path)
        yield subject
        subject.runner.close(stop_gangs=True)


class Composite(Fake):
    """A fake among others: what is promised of one is promised of several."""

    def __init__(self) -> None:
        super().__init__()
        self.fake = self.runner
        self.runner = CompositeRunner({"elsewhere": FakeRunner([], pools=[Pool("other")]), "here": self.fake})  # type: ignore[assignment]

    def ending(self, name: str, exit_code: int) -> Gang:
        self.fake.exit_codes[name] = exit_code
        return gang_of(name, f"exit {exit_code}")

    def make_room(self, name: str, shares: Sequence[NodeShare]) -> None:
        self.fake.place(name, shares)

    def started_count(self) -> int:
        return len(self.fake.started)


class TestCompositeRunner(RunnerContract, DelegatingContract):
    @pytest.fixture
    def subject(self) -> Composite:
        return Composite()


class Asked(PolledRunner):
    """Asked anew before each answer: what is promised is promised of an engine that was asked."""

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]:
        super().poll(handles)
        self.refresh()
        return super().poll(handles)

    def pools(self) -> list[Pool]:
        self.refresh()
        return super().pools()

    def running(self) -> list[str]:
        self.refresh()
        return super().running()


class Polled(Fake):
    def __init__(self) -> None:
        super().__init__()
        self.fake = self.runner
        self.runner = Asked(self.fake)  # type: ignore[assignment]

    def ending(self, name: str, exit_code: int) -> Gang:
        self.fake.exit_codes[name] = exit_code
        return gang_of(name, f"exit {exit_code}")

    def make_room(self, name: str, shares: Sequence[NodeShare]) -> None:
        self.fake.place(name, shares)

    def reopened(self) -> Asked:  # type: ignore[override]
        return Asked(self.fake)

    def started_count(self) -> int:
        return len(self.fake.started)


class TestPolledRunner(RunnerContract, DelegatingContract):
    @pytest.fixture
    def subject(self) -> Iterator[Polled]:
        subject = Polled()
        yield subject
        subject.runner.close(stop_gangs=True)


def gang_of(name: str, entrypoint: str, log_path: str = "") -> Gang:
    return Gang(
        allocation_id=name,
        task_id=name,
        run_id=1,
        nodes=(NodePart(share=NodeShare("here", (0,))),),
        entrypoint=entrypoint,
        env={},
        log_path=log_path,
    )
