"""`resolute workspace`."""

from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.project import project_row

app = group("Workspaces hold projects.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name or number of the workspace.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@command(app, "list", "ls")
def list_workspaces(run: Run) -> None:
    """List the workspaces."""
    found = run.client.workspaces.all()
    run.show(("ID", "Name", "Owner", "Projects", "Experiments", "Archived"), [_row(w) for w in found], found)


def _row(workspace: dict[str, object]) -> tuple[object, ...]:
    keys = ("id", "name", "username", "numProjects", "numExperiments", "archived")
    return tuple(workspace.get(key) for key in keys)


@command(app, "list-projects")
def list_projects(run: Run, name: Name) -> None:
    """List the projects of a workspace."""
    found = run.client.workspaces.projects(name)
    run.show(("ID", "Name", "Description", "Experiments", "Archived"), [project_row(p) for p in found], found)


@command(app, "describe")
def describe(run: Run, name: Name) -> None:
    """Show a workspace."""
    workspace = run.client.workspaces.get(name)
    run.describe(
        dict(zip(("ID", "Name", "Owner", "Projects", "Experiments", "Archived"), _row(workspace), strict=True)),
        workspace,
    )


@command(app, "create")
def create(run: Run, name: str) -> None:
    """Create a workspace."""
    run.say(f"Created workspace {name}", run.client.workspaces.create(name))


@command(app, "edit")
def edit(run: Run, name: Name, new_name: Annotated[str, typer.Option("--name", help="Its new name.")]) -> None:
    """Rename a workspace."""
    run.say(f"Renamed workspace {name} to {new_name}", run.client.workspaces.rename(name, new_name))


@command(app, "archive")
def archive(run: Run, name: Name) -> None:
    """Hide a workspace."""
    run.client.workspaces.set_archived(name, is_archived=True)
    run.say(f"Archived workspace {name}")


@command(app, "unarchive")
def unarchive(run: Run, name: Name) -> None:
    """Show a workspace again."""
    run.client.workspaces.set_archived(name, is_archived=False)
    run.say(f"Unarchived workspace {name}")


@command(app, "delete")
def delete(run: Run, name: Name, yes: Yes = False) -> None:
    """Delete a workspace with everything in it."""
    run.confirm(f"Delete workspace {name} with its projects and experiments?", is_agreed=yes)
    run.client.workspaces.delete(name)
    run.say(f"Deleting workspace {name}")
