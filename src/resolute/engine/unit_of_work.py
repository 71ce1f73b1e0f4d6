"""A `Flow` is one write transaction, and what must follow it once it is durable: notices, log lines, collections."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from resolute.domain.log import LogLevel
from resolute.engine.bus import Bus
from resolute.engine.notices import tell
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.search.events import Event


@dataclass(slots=True)
class Flow:
    """One transaction's worth of changes: the clock's reading, events for the searcher, lines for task logs."""

    tx: Transaction
    bus: Bus
    now: datetime
    events: deque[tuple[int, Event]] = field(default_factory=deque)
    notices: list[tuple[str, str, LogLevel]] = field(default_factory=list)
    collect: set[int] = field(default_factory=set)
    """Experiments whose checkpoints should be looked at by the retention policy."""

    def publish(self, *topics: str) -> None:
        self.tx.after_commit(lambda: self.bus.publish(*topics))

    def tell(self, task_id: str, text: str, level: LogLevel = LogLevel.INFO) -> None:
        self.notices.append((task_id, text, level))


@contextmanager
def flow(platform: Platform) -> Iterator[Flow]:
    """Log lines are written only when the transaction has committed: a log never tells what did not happen."""
    with platform.store.write() as tx:
        current = Flow(tx=tx, bus=platform.bus, now=platform.clock())
        yield current
    for task_id, text, level in current.notices:
        tell(platform, task_id, text, level=level)
    for experiment_id in current.collect:
        platform.to_collect.put(experiment_id)
