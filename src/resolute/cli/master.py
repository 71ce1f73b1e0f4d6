"""`resolute master`."""

from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.output import cell, moment, print_json
from resolute.client.configuration import as_yaml

app = group("The master itself.")


@command(app, "info")
def info(run: Run) -> None:
    """Show who the master is."""
    found = run.client.cluster.info()
    run.describe({key: cell(value) for key, value in found.items()}, found)


@command(app, "config")
def config(run: Run) -> None:
    """Print the master's configuration."""
    found = run.client.cluster.config()
    if run.is_json:
        print_json(found)
    else:
        typer.echo(as_yaml(found).rstrip("\n"))


@command(app, "logs")
def logs(
    run: Run,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
    tail: Annotated[int | None, typer.Option(help="Only the last N lines.")] = None,
) -> None:
    """Print the master's own log."""
    for entry in run.client.cluster.logs(follow=follow, tail=tail):
        if run.is_json:
            print_json(entry)
        else:
            level = str(entry.get("level") or "").removeprefix("LOG_LEVEL_")
            typer.echo(f"{moment(entry.get('timestamp')) or ''} {level}: {entry.get('message', '').rstrip()}")
