"""`resolute model`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.model_export import add_export_commands
from resolute.cli.output import moment, print_json, print_pairs, print_table
from resolute.client.models import Model, ModelVersion
from resolute.domain.errors import NotFound
from resolute.domain.model import Stage

app = group("The model registry: names with numbered versions, each one checkpoint.")

Name = Annotated[str, typer.Argument(metavar="MODEL", help="Name or id of the model.")]
Number = Annotated[int, typer.Argument(metavar="VERSION", help="Number of the version.")]
Workspace = Annotated[str | None, typer.Option("--workspace-name", "-w", help="Where it belongs.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
_HEADERS = ("ID", "Name", "Versions", "Labels", "Workspace", "Updated", "Archived", "Description")
_VERSION_HEADERS = ("Version", "Stage", "Name", "Checkpoint", "Trial", "Steps", "Validation", "Registered")


class SortBy(StrEnum):
    NAME = "name"
    DESCRIPTION = "description"
    CREATION_TIME = "creation_time"
    LAST_UPDATED_TIME = "last_updated_time"
    NUM_VERSIONS = "num_versions"
    WORKSPACE = "workspace"


class OrderBy(StrEnum):
    ASC = "asc"
    DESC = "desc"


@command(app, "list", "ls")
def list_models(
    run: Run,
    workspace_names: Annotated[str | None, typer.Option("--workspace-names", "-w", help="Separated by commas.")] = None,
    sort_by: Annotated[SortBy, typer.Option(help="What to sort by.")] = SortBy.LAST_UPDATED_TIME,
    order_by: Annotated[OrderBy, typer.Option(help="Which way.")] = OrderBy.ASC,
) -> None:
    """List the registered models."""
    filters: dict[str, object] = {
        "sortBy": f"SORT_BY_{sort_by.value.upper()}",
        "orderBy": f"ORDER_BY_{order_by.value.upper()}",
        "workspaceNames": workspace_names.split(",") if workspace_names else None,
    }
    found = list(run.client.models.list(**filters))
    run.show(_HEADERS, [_row(model) for model in found], [model.data for model in found])


def _row(model: Model) -> tuple[object, ...]:
    data = model.data
    return (
        model.id,
        model.name,
        data.get("numVersions"),
        model.labels,
        data.get("workspaceId"),
        moment(data.get("lastUpdatedTime")),
        model.is_archived,
        model.description,
    )


@command(app, "describe")
def describe(
    run: Run,
    name: Name,
    version: Annotated[
        int | None, typer.Option("--version", help="Show this version; the newest when left out.")
    ] = None,
) -> None:
    """Show a model and one of its versions."""
    model = run.client.models.get(name)
    try:
        shown = [model.version(version)]
    except NotFound:
        if version is not None:
            raise
        shown = []
    if run.is_json:
        print_json({**model.data, "modelVersion": shown[0].data if shown else None})
        return
    pairs = dict(zip(_HEADERS, _row(model), strict=True))
    print_pairs({**pairs, "Notes": model.data.get("notes"), "Metadata": model.metadata})
    if shown:
        print()
        print_table(_VERSION_HEADERS, [_version_row(each) for each in shown])


@command(app, "list-versions")
def list_versions(run: Run, name: Name) -> None:
    """List the versions of a model, newest first."""
    found = run.client.models.get(name).versions()
    run.show(_VERSION_HEADERS, [_version_row(each) for each in found], [each.data for each in found])


def _version_row(version: ModelVersion) -> tuple[object, ...]:
    checkpoint = version.checkpoint
    return (
        version.version,
        version.stage,
        version.name,
        checkpoint.uuid,
        checkpoint.trial_id,
        checkpoint.steps_completed,
        checkpoint.validation_metrics,
        moment(version.data.get("creationTime")),
    )


@command(app, "create")
def create(
    run: Run,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name that no other model has.")],
    workspace_name: Workspace = None,
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
    label: Annotated[list[str] | None, typer.Option(help="A label; repeatable.")] = None,
) -> None:
    """Create a model without versions."""
    model = run.client.models.create(name, description=description, labels=label or (), workspace=workspace_name)
    run.say(f"Created model {model.name} (id {model.id})", model.data)


@command(app, "register-version")
def register_version(
    run: Run,
    name: Name,
    uuid: Annotated[str, typer.Argument(metavar="UUID", help="A completed checkpoint.")],
    version_name: Annotated[str, typer.Option("--name", help="A name for people.")] = "",
    comment: Annotated[str, typer.Option(help="Why this one.")] = "",
) -> None:
    """Make a checkpoint the next version of a model."""
    version = run.client.models.register_version(name, uuid, name=version_name, comment=comment)
    run.say(f"Registered checkpoint {uuid} as {version.model_name}, version {version.version}", version.data)


@command(app, "stage")
def stage(
    run: Run,
    name: Name,
    version: Number,
    to: Annotated[Stage, typer.Argument(metavar="STAGE", case_sensitive=False, help="How far it has come.")],
) -> None:
    """Say how far a version has come: none, staging, production (retires the former one) or retired."""
    changed = run.client.models.get(name).version(version).set_stage(to.value)
    run.say(f"Version {version} of {changed.model_name} is {changed.stage}", changed.data)


@command(app, "download")
def download(
    run: Run,
    name: Name,
    version: Annotated[int | None, typer.Option("--version", help="The newest when left out.")] = None,
    output_dir: Annotated[Path | None, typer.Option("--output-dir", "-o", help="Where to.")] = None,
) -> None:
    """Download the files of a version."""
    found = run.client.models.get(name).version(version)
    folder = found.download(output_dir)
    raw = {"model": found.model_name, "version": found.version, "path": str(folder)}
    run.say(f"Downloaded {found.model_name}, version {found.version}, to {folder}", raw)


@command(app, "move")
def move(
    run: Run, name: Name, workspace_name: Annotated[str, typer.Option("--workspace-name", "-w", help="Where to.")]
) -> None:
    """Move a model into another workspace."""
    model = run.client.models.get(name).update(workspaceName=workspace_name)
    run.say(f"Moved model {model.name} to workspace {workspace_name}", model.data)


@command(app, "archive")
def archive(run: Run, name: Name) -> None:
    """Hide a model and keep it from changing."""
    run.client.models.get(name).archive()
    run.say(f"Archived model {name}")


@command(app, "unarchive")
def unarchive(run: Run, name: Name) -> None:
    """Bring an archived model back."""
    run.client.models.get(name).unarchive()
    run.say(f"Unarchived model {name}")


@command(app, "delete")
def delete(run: Run, name: Name, yes: Yes = False) -> None:
    """Delete a model with its versions. Checkpoints stay."""
    model = run.client.models.get(name)
    run.confirm(f"Delete model {model.name} with {model.data.get('numVersions') or 0} versions?", is_agreed=yes)
    model.delete()
    run.say(f"Deleted model {model.name}")


@command(app, "delete-version")
def delete_version(run: Run, name: Name, version: Number, yes: Yes = False) -> None:
    """Delete a version. Its checkpoint stays."""
    found = run.client.models.get(name).version(version)
    run.confirm(f"Delete version {version} of model {found.model_name}?", is_agreed=yes)
    found.delete()
    run.say(f"Deleted version {version} of model {found.model_name}")


add_export_commands(app)
