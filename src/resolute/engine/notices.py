"""Lines that the platform itself writes into a task's log, so that a user reads the whole story in one place."""

from datetime import datetime

from resolute.domain.log import LogLevel, LogLine, LogStream
from resolute.engine.platform import Platform


def tell(platform: Platform, task_id: str, text: str, *, level: LogLevel = LogLevel.INFO) -> None:
    line = LogLine(
        timestamp_us=microseconds(platform.clock()),
        text=text,
        stream=LogStream.PLATFORM,
        level=level,
    )
    platform.logs.append(task_id, [line])


def microseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)
