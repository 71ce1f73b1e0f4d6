"""`logs` commands: the same filters for trials, experiments and tasks."""

import inspect
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Annotated, Any

import typer

from resolute.cli.command import Run, command
from resolute.cli.output import print_json
from resolute.client.logs import LogFilter

Line = dict[str, Any]
"""As the master sends it."""
_Lines = Callable[..., Iterator[Line]]
_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def log_command(app: typer.Typer, name: str = "logs") -> Callable[[_Lines], _Lines]:
    """Register `function(run, id, wanted)`, which finds the lines; options and printing are added."""

    def register(function: _Lines) -> _Lines:
        subject = list(inspect.signature(function, eval_str=True).parameters.values())[:2]
        options = list(inspect.signature(_filter, eval_str=True).parameters.values())

        @wraps(function)
        def adapted(run: Run, **given: Any) -> None:
            target = given.pop(subject[1].name)
            _print(run, function(run, target, _filter(**given)))

        parameters = [*subject, *(p.replace(kind=_KEYWORD) for p in options)]
        adapted.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command(app, name)(adapted)
        return function

    return register


def _filter(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the task ends.")] = False,
    head: Annotated[int | None, typer.Option(help="Only the first N lines.")] = None,
    tail: Annotated[int | None, typer.Option(help="Only the last N lines.")] = None,
    level: Annotated[str | None, typer.Option(help="This level or higher: TRACE to CRITICAL.")] = None,
    rank_id: Annotated[list[int] | None, typer.Option(help="Lines of this rank; repeat for more.")] = None,
    agent_id: Annotated[list[str] | None, typer.Option(help="Lines from this node.")] = None,
    allocation_id: Annotated[list[str] | None, typer.Option(help="Lines of this allocation.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="Lines of this source.")] = None,
    stdtype: Annotated[list[str] | None, typer.Option(help="stdout or stderr.")] = None,
    timestamp_after: Annotated[str | None, typer.Option(help="After this time, 2026-01-31T12:00:00Z.")] = None,
    timestamp_before: Annotated[str | None, typer.Option(help="Before this time.")] = None,
    search: Annotated[str | None, typer.Option(help="Lines that contain this text.")] = None,
    regex: Annotated[bool, typer.Option("--regex", help="--search is a regular expression.")] = False,
) -> LogFilter:
    return LogFilter(
        follow=follow,
        head=head,
        tail=tail,
        level=level,
        ranks=rank_id or (),
        agents=agent_id or (),
        allocations=allocation_id or (),
        sources=source or (),
        streams=stdtype or (),
        after=timestamp_after,
        before=timestamp_before,
        search=search,
        is_regex=regex,
    )


def _print(run: Run, lines: Iterator[Line]) -> None:
    for line in lines:
        if run.is_json:
            print_json(line)
        else:
            print_line(line)


def print_line(line: Line) -> None:
    """As the master formatted it, at once: somebody is watching."""
    message = str(line.get("message") or line.get("log") or "")
    sys.stdout.write(message if message.endswith("\n") else f"{message}\n")
    sys.stdout.flush()
