"""What earlier masters left behind on the machines that run gangs: a master may die between the end of a run and the
removal of its folder.
"""

from datetime import timedelta

from resolute.engine.platform import Platform
from resolute.engine.ports.runner import Sweeps

EVERY = timedelta(hours=1)


def sweep(platform: Platform) -> int:
    """Remove what no live allocation needs. Returns how many runs were removed."""
    runner = platform.runner
    if not isinstance(runner, Sweeps):
        return 0
    with platform.store.read() as tx:
        live = tx.allocations.live()
    # One that is being started has a folder before its handle is written down.
    return runner.sweep(frozenset({each.id for each in live} | {each.handle for each in live if each.handle}))
