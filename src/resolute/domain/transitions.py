"""One way to apply a table of allowed moves, shared by everything that has states. Pure."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from resolute.domain.errors import IllegalTransition

S = TypeVar("S", bound=StrEnum)


def check_move(what: str, table: Mapping[S, frozenset[S]], start: S, goal: S) -> None:
    """Raise unless `table` allows `start` to become `goal`. `what` names the thing, e.g. "Trial 7"."""
    if goal in table[start]:
        return
    options = ", ".join(sorted(table[start])) or "none, it is final"
    raise IllegalTransition(f"{what} is {start}; it cannot become {goal}. Possible: {options}.")
