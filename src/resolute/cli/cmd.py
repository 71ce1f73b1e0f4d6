"""`resolute cmd`: a command on slots of the cluster."""

from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.interactive import (
    ConfigFile,
    Context,
    Detach,
    Include,
    Overrides,
    Pool,
    Slots,
    Template,
    Volumes,
    WorkspaceName,
    add_verbs,
    settings,
    workspace_id,
)
from resolute.cli.run import follow

app = group("Commands: anything that runs once, on slots or without.")


@command(app, "run", context_settings={"allow_interspersed_args": False})
def run_command(
    run: Run,
    entrypoint: Annotated[list[str], typer.Argument(metavar="COMMAND...", help="A program and its arguments.")],
    config_file: ConfigFile = None,
    config: Overrides = None,
    volume: Volumes = None,
    context: Context = None,
    include: Include = None,
    template: Template = None,
    workspace_name: WorkspaceName = None,
    slots: Slots = None,
    pool: Pool = None,
    detach: Detach = False,
) -> None:
    """Run a command, show its output, and exit with its exit code."""
    task = run.client.commands.start(
        {"entrypoint": entrypoint} if config_file is None else config_file,
        overrides=settings(config, volumes=volume, slots=slots, pool=pool),
        context=context,
        include=include or (),
        template=template,
        workspace_id=workspace_id(run, workspace_name),
    )
    if detach or run.is_json:
        run.say(task.id, task.data)
        return
    follow(task)


add_verbs(app, "command", lambda client: client.commands)
