"""How far a long command has come: a bar on a terminal, plain lines elsewhere, nothing within the first two seconds.

Lines go to standard error, so that what a command prints stays as it is.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from resolute.cli.output import size

QUIET_S = 2.0
"""What takes no longer says nothing."""
EVERY_S = 10.0
"""Between two lines; a log of an hour stays readable."""
_MINUTE = 60


class Progress:
    """Called with how many units were just done. `note` is shown behind the numbers: which file, which step."""

    def __init__(
        self, title: str, total: int | None, unit: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.title, self.total, self.unit = title, total, unit
        self.done = 0
        self.note = ""
        self._clock = clock
        self._began = clock()

    def __call__(self, count: int) -> None:
        self.done += count

    def elapsed_s(self) -> float:
        return self._clock() - self._began

    def sentence(self) -> str:
        """`Looking: 1,240 of 5,832 windows (21 %), 14.2 a second, 5 min left, scene.tif`."""
        elapsed = max(self.elapsed_s(), 1e-9)
        parts = [self._count(), *self._pace(self.done / elapsed, elapsed), self.note]
        return f"{self.title}: {', '.join(part for part in parts if part)}"

    def last_words(self) -> str:
        elapsed = max(self.elapsed_s(), 1e-9)
        done = f"{self._amount(self.done)} {self._word()}".strip() if self.done else "done"
        return f"{self.title}: {done} in {duration(elapsed)}"

    def _count(self) -> str:
        if not self.done and self.total is None:
            return f"{duration(self.elapsed_s())} so far"
        if self.total is None:
            return f"{self._amount(self.done)} {self._word()}".strip()
        share = f" ({100 * self.done / self.total:.0f} %)" if self.total else ""
        return f"{self._amount(self.done)} of {self._amount(self.total)} {self._word()}".strip() + share

    def _pace(self, rate: float, elapsed: float) -> list[str]:
        if not self.done:
            return []
        shown = [f"{size(int(rate))} a second" if self.unit == "bytes" else f"{rate:.3g} a second"]
        if self.total is not None and self.total > self.done:
            shown.append(f"{duration((self.total - self.done) / rate)} left")
        return shown

    def _amount(self, count: int) -> str:
        return size(count) if self.unit == "bytes" else f"{count:,}"

    def _word(self) -> str:
        return "" if self.unit == "bytes" else self.unit


def duration(seconds: float) -> str:
    """As people say it: 8 s, 5 min 20 s, 3 h 12 min."""
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < 10 * _MINUTE:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    if whole < 60 * _MINUTE:
        return f"{whole // _MINUTE} min"
    return f"{whole // (60 * _MINUTE)} h {whole // _MINUTE % 60} min"


@contextmanager
def progress_bar(title: str, total: int | None = None, unit: str = "") -> Iterator[Progress]:
    """`total` None: nobody knows how much there is."""
    progress = Progress(title, total, unit)
    show = _on_terminal if sys.stderr.isatty() else _in_lines
    with show(progress):
        yield progress


@contextmanager
def _in_lines(progress: Progress, *, quiet_s: float = QUIET_S, every_s: float = EVERY_S) -> Iterator[None]:
    """From a thread: also a step that reports nothing for minutes is seen to be alive."""
    ended = threading.Event()
    out: TextIO = sys.stderr
    thread = threading.Thread(
        target=_write_lines, args=(progress, out, ended, quiet_s, every_s), name="resolute-progress", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _write_lines(progress: Progress, out: TextIO, ended: threading.Event, quiet_s: float, every_s: float) -> None:
    if ended.wait(quiet_s):
        return
    while True:
        print(progress.sentence(), file=out, flush=True)
        if ended.wait(every_s):
            print(progress.last_words(), file=out, flush=True)
            return


@contextmanager
def _on_terminal(progress: Progress) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    def drawn() -> Any:
        row = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=progress.total, completed=progress.done, width=24, pulse=not progress.total)
        row.add_row(bar, Text(progress.sentence(), overflow="ellipsis", no_wrap=True))
        return row

    with Live(get_renderable=drawn, console=Console(stderr=True), refresh_per_second=8, transient=True):
        yield
