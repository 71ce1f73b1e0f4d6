"""How long a task waits for a master that is away: one rule per promise, each written down here.

Reports and checkpoints are not here: their queue and their uploader keep what they hold until the run ends.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from resolute.domain.errors import Unavailable, Untrusted

_log = logging.getLogger("resolute")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    """Pauses double from the first to the longest. The last error is raised once `give_up_after_s` have passed.

    Only a master that is away is waited for: a refusal, or a certificate that is not trusted, is raised at once.
    """

    first_pause_s: float
    longest_pause_s: float
    give_up_after_s: float = float("inf")

    def run(
        self,
        call: Callable[[], T],
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> T:
        """The answer of `call`, which may be made several times: what it does must bear repeating."""
        started, pause_s, is_warned = clock(), self.first_pause_s, False
        while True:
            try:
                return call()
            except Untrusted:
                raise
            except Unavailable as problem:
                if clock() - started + pause_s > self.give_up_after_s:
                    raise
                if not is_warned:
                    _log.warning("%s Trying again.", problem)
                    is_warned = True
            sleep(pause_s)
            pause_s = min(pause_s * 2, self.longest_pause_s)


DATASET_LOOKUP = RetryRule(first_pause_s=0.5, longest_pause_s=5.0, give_up_after_s=120.0)
"""A trial that starts while the master is being restarted waits for it; two minutes are longer than any restart."""

RENDEZVOUS = RetryRule(first_pause_s=0.5, longest_pause_s=5.0, give_up_after_s=600.0)
"""The other hosts may have to be started first."""

REPLICA_REPORT = RetryRule(first_pause_s=0.2, longest_pause_s=5.0)
"""A replica that nobody knows of is of no use: it says where it is until somebody has heard it."""
