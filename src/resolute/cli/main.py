"""The `resolute` command: finds the group that was named, loads that one only, and turns errors into sentences.

Nothing heavy may be imported here: `resolute --help` must answer at once.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from resolute.domain.errors import ResoluteError
from resolute.version import __version__

if TYPE_CHECKING:
    import httpx

CATALOGUE: dict[str, tuple[str, tuple[str, ...], str]] = {
    "up": ("up", (), "Run the platform in the foreground."),
    "experiment": ("experiment", ("e",), "Create, follow and steer experiments."),
    "run": ("run", (), "Run a command in a copy of this folder: output and exit code come back."),
    "trial": ("trial", ("t",), "Look into trials."),
    "checkpoint": ("checkpoint", ("c",), "Describe, download and delete checkpoints."),
    "model": ("model", ("m",), "The model registry: versions, stages."),
    "dataset": ("dataset", (), "Dataset versions: what was trained on."),
    "data": ("data", (), "Prepare imagery: RGB, labels, tiles, checks, formats, stores."),
    "serve": ("serve", (), "Serve one model over KServe's V1 and V2."),
    "predict": ("predict", (), "Find objects on images of any size."),
    "evaluate": ("evaluate", (), "Measure a detector on labelled images."),
    "deploy": ("deploy", (), "Serve models: deploy, canary, promote, roll back."),
    "search": ("search", (), "See what a search will cost before it runs."),
    "command": ("cmd", ("cmd",), "Commands: anything that runs once, on slots or without."),
    "notebook": ("notebook", (), "JupyterLab on slots of the cluster."),
    "tensorboard": ("tensorboard", (), "TensorBoard over experiments and trials."),
    "job": ("job", ("j",), "The queue: who runs next."),
    "task": ("task", (), "Everything that holds or wants slots."),
    "agent": ("agent", ("a",), "Nodes that trials run on."),
    "slot": ("slot", ("s",), "Slots of the nodes."),
    "resource-pool": ("pool", ("rp",), "Pools of nodes."),
    "user": ("user", ("u",), "Log in, and manage users."),
    "workspace": ("workspace", ("w",), "Workspaces hold projects."),
    "project": ("project", ("p",), "Projects hold experiments."),
    "template": ("template", ("tpl",), "Shared parts of configurations."),
    "master": ("master", (), "The master itself."),
    "audit": ("audit", (), "Who did what, when and from where."),
    "backup": ("backup", (), "Back up a home while its master runs, and restore it."),
    "preview-search": ("preview", (), "Ask the master how many trials a search would run."),
    "version": ("version", (), "Versions of this program and of the master."),
}
"""Command to module, short names, and what it is for."""
_BY_NAME = {name: long for long, (_, aliases, _) in CATALOGUE.items() for name in (long, *aliases)}
DEBUG = "RESOLUTE_DEBUG"


class LazyGroup(TyperGroup):
    """Help needs names and one line each; only the command that runs is loaded."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return list(CATALOGUE)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        long = _BY_NAME.get(cmd_name)
        if long is None:
            return None
        if self._is_wanted:
            return _load(long)
        _, aliases, purpose = CATALOGUE[long]
        return TyperCommand(long, short_help=f"{purpose} Short: {aliases[0]}" if aliases else purpose)

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        self._is_wanted = True
        try:
            return super().resolve_command(ctx, args)
        finally:
            self._is_wanted = False

    _is_wanted = False
    """A command is about to run, or to be completed: a name alone is not enough."""


def _load(name: str) -> Any:
    module = import_module(f"resolute.cli.{CATALOGUE[name][0]}")
    command = typer.main.get_command(module.app)
    command.name = name
    return command


app = typer.Typer(
    cls=LazyGroup,
    name="resolute",
    help="Deep-learning training platform: experiments, searches, checkpoints. Start with: resolute up",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"resolute {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    ctx: typer.Context,
    master: Annotated[
        str | None, typer.Option("--master", "-m", metavar="URL", help="Address of the master (RESOLUTE_MASTER).")
    ] = None,
    user: Annotated[str | None, typer.Option("--user", "-u", metavar="NAME", help="Run as this user.")] = None,
    version: Annotated[
        bool, typer.Option("--version", "-v", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    ctx.ensure_object(dict)
    ctx.obj.update(master=master, user=user)


def run(arguments: Sequence[str], *, transport: "httpx.BaseTransport | None" = None) -> int:
    """Run one command and return its exit code. `transport` replaces the network, for tests and embedding."""
    command = typer.main.get_command(app)
    settings: dict[str, Any] = {"transport": transport}
    try:
        command.main(list(arguments), prog_name="resolute", obj=settings)
    except SystemExit as end:
        return _code(end)
    except KeyboardInterrupt:
        return 130
    except ResoluteError as problem:
        print(f"Error: {problem}", file=sys.stderr)
        return 1
    except Exception as problem:
        if os.environ.get(DEBUG):
            raise
        print(f"Error: {type(problem).__name__}: {problem} (set {DEBUG}=1 for the details)", file=sys.stderr)
        return 1
    finally:
        if "client" in settings:
            settings["client"].close()
    return 0


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def _code(end: SystemExit) -> int:
    return end.code if isinstance(end.code, int) else int(bool(end.code))


if __name__ == "__main__":
    main()
