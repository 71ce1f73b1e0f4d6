"""What the clock alone brings about: trials elsewhere that fell silent, logs whose time is over,
what earlier masters left behind."""

from datetime import datetime, timedelta

from resolute.engine.jobs import sweeping
from resolute.engine.platform import Platform
from resolute.engine.trials.log_retention import remove_expired_logs
from resolute.engine.trials.running import give_up_silent_trials

SILENCE_EVERY = timedelta(seconds=15)
LOGS_EVERY = timedelta(hours=1)


class Housekeeping:
    """Called often; does each of its works in its own time."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._due: dict[str, datetime] = {}

    def tick(self) -> None:
        if self._is_due("silence", SILENCE_EVERY):
            give_up_silent_trials(self._platform)
        if self._is_due("logs", LOGS_EVERY):
            remove_expired_logs(self._platform)
        if self._is_due("leftovers", sweeping.EVERY):
            sweeping.sweep(self._platform)

    def _is_due(self, name: str, every: timedelta) -> bool:
        now = self._platform.clock()
        if now < self._due.get(name, now):
            return False
        self._due[name] = now + every
        return True
