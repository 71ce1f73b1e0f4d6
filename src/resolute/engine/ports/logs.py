"""Port of task logs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from resolute.domain.log import LogLevel, LogLine


@dataclass(frozen=True, slots=True, kw_only=True)
class LogQuery:
    """Every filter that is set must match. `after_id` is exclusive; ids are opaque and grow with time."""

    ranks: tuple[int, ...] = ()
    levels: tuple[LogLevel, ...] = ()
    streams: tuple[str, ...] = ()
    since_us: int | None = None
    until_us: int | None = None
    text: str = ""
    is_regex: bool = False
    after_id: int | None = None
    limit: int | None = None
    newest_first: bool = False
    accepts: Callable[[LogLine], bool] | None = None
    """A further test of what the others let through."""


class Logs(Protocol):
    """One append-only log per task. Appends are atomic per call and visible to readers at once."""

    def append(self, task_id: str, lines: Sequence[LogLine]) -> None: ...
    def append_once(self, task_id: str, name: str, records: bytes, *, start: int) -> None:
        """Append whole records of `domain.log.encode_line`, or what of them is not in the log yet. `name` is that of
        this batch alone; `start` is a size that the log had before the first try.

        However often it is repeated, after a crash of a writer or by two threads at once: they stand there once."""

    def read(self, task_id: str, query: LogQuery) -> list[LogLine]: ...
    def path(self, task_id: str) -> Path:
        """Where a process on this machine may append records of `domain.log.encode_line` itself."""

    def size(self, task_id: str) -> int:
        """Bytes; grows when something was appended. Cheap."""

    def remove(self, task_id: str) -> None: ...
