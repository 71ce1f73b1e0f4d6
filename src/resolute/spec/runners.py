"""The `runners:` section of the master's configuration: which machines and engines it drives. No I/O.

    runners:
      here: {type: local, slots: 2}
      cluster: {type: slurm, partition: gpu}

The first has the default pool. Which types there are and their options, the caller says; the table of them is
`runners.engines`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from resolute.spec.problem import Path, Problem, nearest, shown

SECTION = "runners"
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,39}")


@dataclass(frozen=True, slots=True)
class RunnerConfig:
    name: str
    type: str
    options: Mapping[str, Any] = field(default_factory=dict)


def parse_runners(
    section: Any, *, options: Mapping[str, Sequence[str]], path: Path = (SECTION,)
) -> tuple[tuple[RunnerConfig, ...], list[Problem]]:
    """`options`: their names, by type. Nothing that was refused is among the first of what is returned."""
    if not isinstance(section, dict) or not section:
        return (), [Problem(path, f"{shown(section)} is no map of runners by name, such as `here: {{type: local}}`")]
    runners, problems = [], []
    for name, given in section.items():
        found = list(_problems_of(name, given, options, (*path, str(name))))
        problems += found
        if not found:
            rest = {key: value for key, value in given.items() if key != "type"}
            runners.append(RunnerConfig(str(name), given["type"], rest))
    return tuple(runners), problems


def _problems_of(name: Any, given: Any, options: Mapping[str, Sequence[str]], path: Path) -> Iterator[Problem]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield Problem(path, "is no name of a runner; use up to 40 of a-z, 0-9, dot, dash and underscore")
    if not isinstance(given, dict):
        yield Problem(path, f"{shown(given)} is no map of options, such as `type: local`")
        return
    kind = given.get("type")
    if kind is None:
        yield Problem((*path, "type"), f"is missing; use one of {', '.join(options)}", points_at_parent=True)
    elif not isinstance(kind, str) or kind not in options:
        close = nearest(str(kind), list(options))
        hint = f"did you mean {close}?" if close else f"use one of {', '.join(options)}"
        yield Problem((*path, "type"), f"{shown(kind)} is no type of runner; {hint}")
    else:
        yield from _unknown_options(given, kind, options[kind], path)


def _unknown_options(given: Mapping[Any, Any], kind: str, known: Sequence[str], path: Path) -> Iterator[Problem]:
    for key in given:
        if key == "type" or key in known:
            continue
        close = nearest(str(key), list(known))
        hint = f"did you mean {close}?" if close else f"a {kind} runner has {', '.join(known) or 'none'}"
        yield Problem((*path, str(key)), f"unknown option; {hint}")
