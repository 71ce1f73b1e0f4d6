"""The verbs that commands, notebooks, TensorBoards and shells share: list, describe, config, logs, kill, set priority.

`add_verbs(app, "command")` gives them to a group; what starts one is written where its kind is.
"""

import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.logs import log_command
from resolute.cli.output import moment
from resolute.client.client import Client
from resolute.client.configuration import as_yaml
from resolute.client.interactive import InteractiveTask, InteractiveTasks
from resolute.client.logs import LogFilter

Find = Callable[[Client], InteractiveTasks]

ConfigFile = Annotated[Path | None, typer.Option("--config-file", help="Configuration, a YAML file.")]
Overrides = Annotated[list[str] | None, typer.Option("--config", metavar="KEY=VALUE", help="Set a key; repeatable.")]
Volumes = Annotated[
    list[str] | None, typer.Option("--volume", "-v", metavar="HOST:TASK", help="Bind mount; repeatable.")
]
Context = Annotated[Path | None, typer.Option("--context", "-c", help="Folder whose files go with it.")]
Include = Annotated[list[Path] | None, typer.Option("--include", "-i", help="File or folder to add; repeatable.")]
Template = Annotated[str | None, typer.Option("--template", help="Template below the configuration.")]
WorkspaceName = Annotated[
    str | None, typer.Option("--workspace-name", "-w", metavar="NAME", help="Workspace to start it in.")
]
Detach = Annotated[bool, typer.Option("--detach", "-d", help="Print the id and return.")]
Slots = Annotated[int | None, typer.Option("--slots", min=0, help="Number of slots (resources.slots).")]
Pool = Annotated[str | None, typer.Option("--pool", help="Resource pool (resources.resource_pool).")]
TaskIds = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, or how they begin.")]
TaskId = Annotated[str, typer.Argument(metavar="ID", help="Id, or how it begins.")]


def add_verbs(app: typer.Typer, kind: str, find: Find) -> None:
    @command(app, "list", "ls")
    def list_tasks(
        run: Run,
        everybody: Annotated[bool, typer.Option("--all", "-a", help="Of all users.")] = False,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the ids.")] = False,
        workspace_name: WorkspaceName = None,
    ) -> None:
        """List what you started."""
        users = () if everybody else (run.client.username,)
        found = find(run.client).list(users=users, workspace_id=workspace_id(run, workspace_name))
        if quiet and not run.is_json:
            for task in found:
                typer.echo(task.id)
            return
        headers = ("Id", "User", "Description", "State", "Exit", "Pool", "Slots", "Since")
        run.show(headers, [_row(task) for task in found], [task.data for task in found])

    @command(app, "describe")
    def describe(run: Run, task_id: TaskId) -> None:
        """Show one."""
        data = find(run.client).get(task_id).data
        shown = {key: value for key, value in data.items() if key != "config" and value not in ("", None)}
        run.describe(shown, data)

    @command(app, "config")
    def config(run: Run, task_id: TaskId) -> None:
        """Print its configuration."""
        found = find(run.client).get(task_id).config
        run.say(as_yaml(found).rstrip(), found)

    @log_command(app)
    def logs(run: Run, task_id: TaskId, wanted: LogFilter) -> Any:
        """Show its log."""
        return find(run.client).get(task_id).logs(wanted)

    @command(app, "kill")
    def kill(run: Run, task_ids: TaskIds) -> None:
        """End it at once."""
        for each in task_ids:
            task = find(run.client).get(each)
            task.kill()
            run.say(f"Killed {kind} {task.id}", task.data)

    setters = group(f"Change a {kind}.")

    @command(setters, "priority")
    def set_priority(
        run: Run,
        task_id: TaskId,
        priority: Annotated[int, typer.Argument(min=1, max=99, help="1 is served first, 99 last.")],
    ) -> None:
        """Change how early it is served."""
        task = find(run.client).get(task_id)
        task.set_priority(priority)
        run.say(f"Set the priority of {kind} {task.id} to {priority}", {"id": task.id, "priority": priority})

    app.add_typer(setters, name="set")


def add_open(app: typer.Typer, find: Find) -> None:
    @command(app, "open")
    def open_task(run: Run, task_id: TaskId) -> None:
        """Open it in a browser."""
        show_when_ready(run, find(run.client).get(task_id), detach=False, opens_browser=True)


def show_when_ready(run: Run, task: InteractiveTask, *, detach: bool, opens_browser: bool) -> None:
    """Where it is, as soon as it answers. One that ends before ends this command with its last lines."""
    if detach:
        run.say(task.id, task.data)
        return
    typer.echo(f"Waiting for {task.kind} {task.id} ({task.description})", err=True)
    task.wait_ready()
    run.say(f"The {task.kind} is ready at {task.url}", task.data)
    if opens_browser and not run.is_json:
        webbrowser.open(task.url)


def _row(task: InteractiveTask) -> tuple[object, ...]:
    data = task.data
    exit_status = data.get("exitStatus") or ""
    return (
        task.id,
        data.get("username"),
        task.description,
        task.state,
        exit_status,
        data.get("resourcePool"),
        data.get("slots"),
        moment(data.get("startTime")),
    )


def workspace_id(run: Run, name: str | None) -> int | None:
    return None if name is None else int(run.client.workspaces.get(name)["id"])


def settings(
    overrides: list[str] | None, *, volumes: list[str] | None = None, slots: int | None = None, pool: str | None = None
) -> list[str]:
    """All options that say something about the configuration, as texts that are laid over it."""
    texts = list(overrides or ())
    if slots is not None:
        texts.append(f"resources.slots={slots}")
    if pool is not None:
        texts.append(f"resources.resource_pool={pool}")
    if volumes:
        texts.append(f"bind_mounts=[{', '.join(map(_mount, volumes))}]")
    return texts


def _mount(volume: str) -> str:
    host, colon, inside = volume.partition(":")
    if not (host and colon and inside):
        raise typer.BadParameter(f"{volume!r} is not HOST:TASK, for example /data:/mnt/data.", param_hint="--volume")
    return f"{{host_path: {host!r}, container_path: {inside!r}}}"
