"""Printing: tables for people, JSON for programs. rich is loaded only when a table is drawn."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime

_PIPED_WIDTH = 1000
"""Wide enough that no cell is cut when the output goes into another program."""


def print_json(value: object) -> None:
    print(json.dumps(value, indent=2, default=str))


def print_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell(value)) for value in row))
    is_terminal = sys.stdout.isatty()
    Console(width=None if is_terminal else _PIPED_WIDTH, highlight=False, soft_wrap=not is_terminal).print(table)


def print_pairs(pairs: dict[str, object]) -> None:
    width = max(map(len, pairs), default=0)
    for key, value in pairs.items():
        print(f"{key:<{width}}  {cell(value)}")


def cell(value: object) -> str:
    """A value as people read it in a table."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return json.dumps(value, default=str)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(cell, value)) or "-"
    return str(value)


def moment(text: object) -> str | None:
    """An API time in local time, to the second; None when there is none."""
    if not isinstance(text, str) or not text:
        return None
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.1f} %"


def waiting(data: Mapping[str, object]) -> dict[str, object]:
    """A row on why it waits, where it does."""
    return {"Waits": data["waitingReason"]} if data.get("waitingReason") else {}


def size(count: int | str | None) -> str:
    number = float(count or 0)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} TiB"
