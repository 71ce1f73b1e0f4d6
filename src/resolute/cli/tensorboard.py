"""`resolute tensorboard`: curves of experiments and trials in TensorBoard."""

from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.interactive import (
    ConfigFile,
    Detach,
    Overrides,
    Pool,
    Template,
    WorkspaceName,
    add_open,
    add_verbs,
    settings,
    show_when_ready,
    workspace_id,
)

app = group("TensorBoard over experiments and trials.")


@command(app, "start")
def start(
    run: Run,
    experiment_ids: Annotated[
        list[int] | None, typer.Argument(metavar="EXPERIMENT...", help="Experiments with all their trials.")
    ] = None,
    trial_ids: Annotated[
        list[int] | None, typer.Option("--trial-ids", "-t", metavar="TRIAL", help="A single trial; repeatable.")
    ] = None,
    config_file: ConfigFile = None,
    config: Overrides = None,
    template: Template = None,
    workspace_name: WorkspaceName = None,
    pool: Pool = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    detach: Detach = False,
) -> None:
    """Start one, and open it when it is ready. `resolute tensorboard start 1 2 -t 3`"""
    task = run.client.tensorboards.start(
        config_file,
        overrides=settings(config, pool=pool),
        template=template,
        workspace_id=workspace_id(run, workspace_name),
        experimentIds=experiment_ids or [],
        trialIds=trial_ids or [],
    )
    show_when_ready(run, task, detach=detach, opens_browser=not no_browser)


add_open(app, lambda client: client.tensorboards)
add_verbs(app, "tensorboard", lambda client: client.tensorboards)
