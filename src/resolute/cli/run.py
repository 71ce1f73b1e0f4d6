"""`resolute run -- python train.py`: the folder goes along, the output comes back, the exit code is kept."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.interactive import Include, Overrides, Pool, Slots, Template, Volumes, WorkspaceName, settings
from resolute.cli.interactive import workspace_id as id_of_workspace
from resolute.client.interactive import InteractiveTask
from resolute.client.logs import LogFilter

app = group("Run a command on the cluster.")


@command(app, "run", context_settings={"allow_interspersed_args": False})
def run_here(
    run: Run,
    entrypoint: Annotated[list[str], typer.Argument(metavar="COMMAND...", help="A program and its arguments.")],
    context: Annotated[Path, typer.Option("--context", "-c", help="Folder whose files go with it.")] = Path("."),
    include: Include = None,
    config: Overrides = None,
    volume: Volumes = None,
    template: Template = None,
    workspace_name: WorkspaceName = None,
    slots: Slots = None,
    pool: Pool = None,
) -> None:
    """Run a command in a copy of this folder on the cluster: its output comes here, its exit code is kept.

    Ctrl-C ends it. `resolute run -- python train.py --epochs 3`
    """
    task = run.client.commands.start(
        {"entrypoint": entrypoint},
        overrides=settings(config, volumes=volume, slots=slots, pool=pool),
        context=context,
        include=include or (),
        template=template,
        workspace_id=id_of_workspace(run, workspace_name),
    )
    try:
        follow(task)
    except KeyboardInterrupt:
        task.kill()
        typer.echo(f"Killed command {task.id}", err=True)
        raise


def follow(task: InteractiveTask) -> None:
    """Show what it prints until it has ended, and exit as it did. What the platform says goes to stderr."""
    typer.echo(f"Started command {task.id} ({task.description})", err=True)
    for line in task.logs(LogFilter(follow=True)):
        is_output = line.get("stdtype") in ("stdout", "stderr")
        out = sys.stdout if line.get("stdtype") == "stdout" else sys.stderr
        text = line["log"] if is_output else line["message"]
        print(text.rstrip("\n"), file=out, flush=True)
    code = task.wait()
    if code:
        raise typer.Exit(code)
