"""A search driven from outside: a program asks what happened and tells what to do."""

from collections.abc import Sequence

from resolute.engine.experiments.searching import asked, told
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import flow


def searcher_events(platform: Platform, experiment_id: int) -> list[dict[str, object]]:
    """Events nobody has answered yet, oldest first, each with its `id`."""
    with platform.store.read() as tx:
        return asked(tx, tx.experiments.get(experiment_id))


def tell_searcher(
    platform: Platform,
    experiment_id: int,
    actions: Sequence[dict[str, object]],
    *,
    up_to: int,
    progress: float | None = None,
) -> None:
    """Answer all events up to and including id `up_to`. Refused as a whole when one action is wrong."""
    with flow(platform) as current:
        told(current, current.tx.experiments.get(experiment_id), actions, up_to=up_to, progress=progress)
        current.publish("engine", f"experiment/{experiment_id}")
