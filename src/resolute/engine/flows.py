"""Opening a `Flow`: one write transaction, and what must follow it once it is durable."""

from collections.abc import Iterator
from contextlib import contextmanager

from resolute.engine.notices import tell
from resolute.engine.platform import Platform
from resolute.engine.trial_flow import Flow


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
