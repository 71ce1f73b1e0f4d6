"""Drives a `custom` search with the user's own class, from any machine that reaches the master.

The class has the `handle(event) -> Outcome` of every searcher. It may be killed and started again: events are queued at
the master until they are answered.
"""

import time
from collections.abc import Callable

from resolute.client.experiment import Experiment
from resolute.search.custom import UserSearcher, answer


def drive(
    experiment: Experiment,
    searcher: UserSearcher,
    *,
    interval_s: float = 0.5,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Answer events until the experiment has ended; returns how it did."""
    path = f"/api/v1/experiments/{experiment.id}/searcher"
    while not experiment.reload().is_finished:
        events = experiment.session.get(f"{path}/events").get("events") or []
        if not events:
            sleep(interval_s)
            continue
        actions, last = answer(searcher, events)
        experiment.session.post(f"{path}/actions", {"upTo": last, "actions": actions})
    return experiment.state
