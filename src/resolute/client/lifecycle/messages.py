"""What a `Model` says while it works: plain lines, and one line that is written over as a search goes on."""

import sys
from typing import TextIO


class Messages:
    """Writes to standard output as it is at that moment, so that notebooks and tests see it."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out
        self._shown = ""

    def say(self, text: str) -> None:
        self._end_line()
        self._write(f"{text}\n")

    def show(self, line: str) -> None:
        """Written over by the next one; where that cannot be done, only the last one is shown."""
        if not self._can_overwrite():
            return
        self._write(f"\r{line:<{len(self._shown)}}")
        self._shown = line

    def settle(self, line: str) -> None:
        """The last one of a row of `show`."""
        if self._can_overwrite():
            self.show(line)
            self._end_line()
        else:
            self._write(f"{line}\n")

    def _end_line(self) -> None:
        if self._shown:
            self._write("\n")
            self._shown = ""

    def _can_overwrite(self) -> bool:
        out = self._out or sys.stdout
        return out.isatty() or type(out).__module__.startswith("ipykernel")

    def _write(self, text: str) -> None:
        out = self._out or sys.stdout
        out.write(text)
        out.flush()
