"""Log lines as messages. Plain dictionaries: a log has many lines, and these are encoded as they are."""

from collections.abc import Iterable
from datetime import UTC, datetime

from resolute.domain.log import NO_RANK, LogLevel, LogLine, LogStream
from resolute.spec.wire import enums as wire
from resolute.spec.wire.tasks import PostedLog

_WIRE_LEVELS = {
    LogLevel.TRACE: "LOG_LEVEL_TRACE",
    LogLevel.DEBUG: "LOG_LEVEL_DEBUG",
    LogLevel.INFO: "LOG_LEVEL_INFO",
    LogLevel.WARNING: "LOG_LEVEL_WARNING",
    LogLevel.ERROR: "LOG_LEVEL_ERROR",
    LogLevel.CRITICAL: "LOG_LEVEL_CRITICAL",
}
_STDTYPES = {LogStream.STDOUT: "stdout", LogStream.STDERR: "stderr", LogStream.PLATFORM: None}


def trial_line(line: LogLine, trial_id: int) -> dict[str, object]:
    return {**_line(line), "trialId": trial_id}


def task_line(line: LogLine, task_id: str) -> dict[str, object]:
    return {**_line(line), "taskId": task_id, "allocationId": line.allocation_id or None}


def _line(line: LogLine) -> dict[str, object]:
    timestamp = _timestamp(line.timestamp_us)
    return {
        "id": str(line.id),
        "timestamp": timestamp,
        "level": _WIRE_LEVELS[line.level],
        "message": _message(line, timestamp),
        "log": line.text + "\n",
        "rankId": None if line.rank == NO_RANK else line.rank,
        "source": "platform" if line.stream is LogStream.PLATFORM else "task",
        "stdtype": _STDTYPES[line.stream],
        "agentId": None,
        "containerId": None,
    }


def _message(line: LogLine, timestamp: str) -> str:
    """The whole line as a terminal shows it."""
    rank = "" if line.rank == NO_RANK else f" [rank={line.rank}]"
    return f"[{timestamp}]         {rank} || {line.level.name}: {line.text}\n"


def _timestamp(microseconds: int) -> str:
    moment = datetime.fromtimestamp(microseconds / 1_000_000, UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def domain_levels(levels: Iterable[wire.LogLevel]) -> tuple[LogLevel, ...]:
    return tuple(LogLevel[level.name] for level in levels if level is not wire.LogLevel.UNSPECIFIED)


def domain_streams(stdtypes: Iterable[str]) -> tuple[str, ...]:
    named = {"stdout": LogStream.STDOUT, "stderr": LogStream.STDERR}
    return tuple(str(named[kind]) for kind in stdtypes if kind in named)


def posted_line(posted: PostedLog, now: datetime) -> LogLine:
    level = LogLevel.INFO if posted.level is wire.LogLevel.UNSPECIFIED else LogLevel[posted.level.name]
    rank = posted.rank_id if posted.rank_id is not None else posted.rank
    return LogLine(
        timestamp_us=int((posted.timestamp or now).timestamp() * 1_000_000),
        text=posted.log.rstrip("\n"),
        rank=NO_RANK if rank is None else rank,
        stream=LogStream.STDERR if posted.stdtype == "stderr" else LogStream.STDOUT,
        level=level,
    )
