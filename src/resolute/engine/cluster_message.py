"""The message that administrators show to everybody who uses the cluster."""

from resolute.domain.change import Action
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import flow

_KEY = "cluster_message"


def cluster_message(platform: Platform) -> dict[str, object] | None:
    with platform.store.read() as tx:
        stored: dict[str, object] | None = tx.settings.get(_KEY)
    return stored or None


def set_cluster_message(platform: Platform, message: dict[str, object]) -> None:
    """`message` as it is to be given back; its text is under `message`."""
    with flow(platform) as current:
        current.tx.settings.put(_KEY, message)
        current.record(Action.CHANGED, "setting", _KEY, message=message["message"])


def remove_cluster_message(platform: Platform) -> None:
    with flow(platform) as current:
        if current.tx.settings.get(_KEY):
            current.tx.settings.put(_KEY, None)
            current.record(Action.DELETED, "setting", _KEY)
