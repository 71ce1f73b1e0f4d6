"""`resolute audit`: who did what, when and from where."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.output import cell, moment
from resolute.domain.change import Action
from resolute.domain.errors import InvalidInput

app = group("Who did what, when and from where. For administrators.")

_AGO = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_WHEN = "a time (2026-01-31 or 2026-01-31T12:00) or how long ago (30m, 2h, 7d)"


@command(app, "list", "ls")
def list_entries(
    run: Run,
    user: Annotated[str | None, typer.Option(help="Only what this user did.")] = None,
    thing: Annotated[
        str | None, typer.Option(help="Only this thing, such as experiment/7, or all of a kind: experiment.")
    ] = None,
    action: Annotated[Action | None, typer.Option(help="Only this action.", case_sensitive=False)] = None,
    since: Annotated[str | None, typer.Option(help=f"From then on: {_WHEN}.")] = None,
    until: Annotated[str | None, typer.Option(help=f"Before then: {_WHEN}.")] = None,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Also what running tasks and the platform itself did.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of rows to show.")] = 100,
) -> None:
    """List what was done, newest first."""
    now = datetime.now(UTC)
    kind, _, thing_id = (thing or "").partition("/")
    entries = list(
        run.client.audit.entries(
            actor=user,
            kind=kind or None,
            thing_id=thing_id or None,
            action=action,
            since=_time("--since", since, now),
            until=_time("--until", until, now),
            everybody=everybody,
            limit=limit,
        )
    )
    rows = [
        (moment(e["time"]), e["username"], _origin(e), e["action"], f"{e['kind']}/{e['thingId']}", _what(e))
        for e in entries
    ]
    run.show(("Time", "User", "From", "Action", "Thing", "Details"), rows, entries)


def _time(option: str, text: str | None, now: datetime) -> datetime | None:
    if text is None:
        return None
    ago = _AGO.fullmatch(text)
    try:
        if ago is not None:
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(f"{option} {text!r} is no time. Give {_WHEN}.") from None


def _origin(entry: dict[str, Any]) -> str:
    return ", ".join(filter(None, (entry["address"], entry["via"].lower().replace("_", " "), entry["userAgent"])))


def _what(entry: dict[str, Any]) -> str:
    detail = dict(entry["detail"])
    changed = detail.pop("changed", {})
    parts = [f"{entry['fromState']} to {entry['toState']}"] if entry["action"] == Action.MOVED else []
    parts += [f"{name}: {cell(old)} to {cell(new)}" for name, (old, new) in changed.items()]
    parts += [f"{name} changed" for name in detail.pop("also", ())]
    return "; ".join([*parts, *(f"{name}={cell(value)}" for name, value in detail.items())])
