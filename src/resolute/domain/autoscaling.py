"""How many replicas a revision should have, from what it carried in the last seconds. Pure.

The mean over a window decides, so that a short dip costs nothing. A load that doubles is not waited for: the last
tenth of the window alone may raise the number (never lower it).
"""

import math
from collections.abc import Sequence

from resolute.domain.deployment import Scaling
from resolute.domain.traffic import Load

PANIC_SHARE = 0.1
PANIC_AT = 2.0
"""Times of what the replicas are meant to carry."""


def replicas_for(scaling: Scaling, load: Load, *, current: int, idle_s: float, waiting: int) -> int:
    """`idle_s`: since the deployment's last request. `waiting`: requests that no replica could take."""
    has_demand = waiting > 0 or any(load.rate)
    if scaling.min_replicas == 0 and not waiting and (idle_s >= scaling.idle_s or (current == 0 and not has_demand)):
        return 0
    values = load.rate if scaling.metric == "rate" else load.concurrency
    wanted = _for_mean(values, scaling.window_s, scaling.target)
    sudden = _for_mean(values, max(1.0, scaling.window_s * PANIC_SHARE), scaling.target)
    if sudden >= PANIC_AT * max(1, current):
        wanted = max(wanted, sudden, current)
    lowest = max(1, scaling.min_replicas)
    return max(lowest, min(wanted, max(lowest, scaling.max_replicas)))


def _for_mean(values: Sequence[float], seconds: float, target: float) -> int:
    recent = values[-max(1, round(seconds)) :]
    if not recent:
        return 0
    # A mean of 4.0000001 against a target of 4 is rounding, not a reason for another replica.
    return math.ceil(sum(recent) / len(recent) / target - 1e-6)
