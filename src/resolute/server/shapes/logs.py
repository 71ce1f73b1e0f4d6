"""Log lines as messages. Plain dictionaries: a log has many lines, and these are encoded as they are."""

from collections.abc import Iterable, Sequence
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
        "agentId": line.node_id or None,
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


_STREAMS = {"stdout": {LogStream.STDOUT}, "stderr": {LogStream.STDERR}}
_SOURCES = {
    "task": {LogStream.STDOUT, LogStream.STDERR},
    "platform": {LogStream.PLATFORM},
    "master": {LogStream.PLATFORM},
}
_NONE = ("-",)
"""No line is of this stream."""


def domain_streams(stdtypes: Sequence[str], sources: Sequence[str] = ()) -> tuple[str, ...]:
    """Streams that both lists name; of an empty list all. Nothing is of a stream that nobody knows."""
    if not stdtypes and not sources:
        return ()
    every = set(LogStream)
    by_type = set().union(*(_STREAMS.get(each, set()) for each in stdtypes)) if stdtypes else every
    by_source = set().union(*(_SOURCES.get(each, set()) for each in sources)) if sources else every
    return tuple(sorted(map(str, by_type & by_source))) or _NONE


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
