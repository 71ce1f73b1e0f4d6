"""`resolute template`."""

from pathlib import Path
from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.output import print_json
from resolute.client.configuration import as_dict, as_yaml

app = group("Shared parts of configurations.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the template.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The configuration, a YAML file.")]


@command(app, "list", "ls")
def list_templates(run: Run) -> None:
    """List the templates."""
    found = run.client.templates.all()
    run.show(("Name", "Workspace"), [(t["name"], t.get("workspaceId")) for t in found], found)


@command(app, "describe")
def describe(run: Run, name: Name) -> None:
    """Print the configuration of a template."""
    template = run.client.templates.get(name)
    if run.is_json:
        print_json(template)
    else:
        typer.echo(as_yaml(template["config"]).rstrip("\n"))


@command(app, "create")
def create(
    run: Run,
    name: Name,
    file: File,
    workspace: Annotated[str | None, typer.Option("--workspace-name", "-w", help="Where it belongs.")] = None,
) -> None:
    """Create a template."""
    workspace_id = run.client.workspaces.get(workspace)["id"] if workspace else 1
    run.say(f"Created template {name}", run.client.templates.create(name, as_dict(file), workspace_id=workspace_id))


@command(app, "set")
def set_template(run: Run, name: Name, file: File) -> None:
    """Create a template, or replace its configuration."""
    run.client.templates.put(name, as_dict(file))
    run.say(f"Set template {name}")


@command(app, "rename")
def rename(run: Run, name: Name, new_name: str) -> None:
    """Give a template another name."""
    run.client.templates.rename(name, new_name)
    run.say(f"Renamed template {name} to {new_name}")


@command(app, "remove", "rm")
def remove(run: Run, name: Name) -> None:
    """Remove a template."""
    run.client.templates.remove(name)
    run.say(f"Removed template {name}")
