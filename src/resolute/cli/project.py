"""`resolute project`."""

from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.output import moment
from resolute.domain.errors import InvalidInput

app = group("Projects hold experiments.")

Workspace = Annotated[str, typer.Argument(metavar="WORKSPACE", help="Name of the workspace.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the project.")]
Description = Annotated[str | None, typer.Option(help="What it is for.")]
_HEADERS = ("ID", "Name", "Description", "Experiments", "Archived")


@command(app, "list", "ls")
def list_projects(run: Run, workspace: Workspace) -> None:
    """List the projects of a workspace."""
    found = run.client.workspaces.projects(workspace)
    run.show(_HEADERS, [project_row(p) for p in found], found)


def project_row(project: dict[str, object]) -> tuple[object, ...]:
    return tuple(project.get(key) for key in ("id", "name", "description", "numExperiments", "archived"))


@command(app, "list-experiments")
def list_experiments(run: Run, workspace: Workspace, name: Name) -> None:
    """List the experiments of a project."""
    project = run.client.projects.get(workspace, name)
    found = list(run.client.list_experiments(project_id=project["id"]))
    rows = [(e.id, e.name, e.state, e.data.get("username"), moment(e.data.get("startTime"))) for e in found]
    run.show(("ID", "Name", "State", "Owner", "Started"), rows, [e.data for e in found])


@command(app, "describe")
def describe(run: Run, workspace: Workspace, name: Name) -> None:
    """Show a project."""
    project = run.client.projects.get(workspace, name)
    run.describe(dict(zip(_HEADERS, project_row(project), strict=True)), project)


@command(app, "create")
def create(
    run: Run,
    workspace: Workspace,
    name: Name,
    description: Description = None,
    key: Annotated[str | None, typer.Option(help="Short key, such as TANK.")] = None,
) -> None:
    """Create a project."""
    project = run.client.projects.create(workspace, name, description=description or "", key=key)
    run.say(f"Created project {name} in workspace {workspace}", project)


@command(app, "edit")
def edit(
    run: Run,
    workspace: Workspace,
    name: Name,
    new_name: Annotated[str | None, typer.Option("--new-name", help="Its new name.")] = None,
    description: Description = None,
) -> None:
    """Change a project."""
    changes = {k: v for k, v in (("name", new_name), ("description", description)) if v is not None}
    if not changes:
        raise InvalidInput("Nothing to change. Give --new-name or --description.")
    run.say(f"Changed project {name}", run.client.projects.update(workspace, name, **changes))


@command(app, "archive")
def archive(run: Run, workspace: Workspace, name: Name) -> None:
    """Hide a project."""
    run.client.projects.set_archived(workspace, name, is_archived=True)
    run.say(f"Archived project {name}")


@command(app, "unarchive")
def unarchive(run: Run, workspace: Workspace, name: Name) -> None:
    """Show a project again."""
    run.client.projects.set_archived(workspace, name, is_archived=False)
    run.say(f"Unarchived project {name}")


@command(app, "delete")
def delete(
    run: Run,
    workspace: Workspace,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a project with its experiments."""
    run.confirm(f"Delete project {name} with its experiments?", is_agreed=yes)
    run.client.projects.delete(workspace, name)
    run.say(f"Deleting project {name}")
