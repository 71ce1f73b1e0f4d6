"""`resolute notebook`: JupyterLab on the cluster."""

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
    add_open,
    add_verbs,
    settings,
    show_when_ready,
    workspace_id,
)
from resolute.client.configuration import as_yaml

app = group("JupyterLab on slots of the cluster.")


@command(app, "start")
def start(
    run: Run,
    config_file: ConfigFile = None,
    config: Overrides = None,
    volume: Volumes = None,
    context: Context = None,
    include: Include = None,
    template: Template = None,
    workspace_name: WorkspaceName = None,
    slots: Slots = None,
    pool: Pool = None,
    preview: Annotated[bool, typer.Option("--preview", help="Print the configuration; start nothing.")] = False,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    detach: Detach = False,
) -> None:
    """Start one, and open it when it is ready."""
    texts, workspace = settings(config, volumes=volume, slots=slots, pool=pool), workspace_id(run, workspace_name)
    notebooks = run.client.notebooks
    if preview:
        found = notebooks.preview(config_file, overrides=texts, template=template, workspace_id=workspace)
        run.say(as_yaml(found).rstrip(), found)
        return
    task = notebooks.start(
        config_file,
        overrides=texts,
        context=context,
        include=include or (),
        template=template,
        workspace_id=workspace,
    )
    show_when_ready(run, task, detach=detach, opens_browser=not no_browser)


add_open(app, lambda client: client.notebooks)
add_verbs(app, "notebook", lambda client: client.notebooks)
