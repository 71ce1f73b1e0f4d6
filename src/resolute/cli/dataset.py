"""`resolute dataset`."""

from pathlib import Path
from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.output import moment, print_json, print_pairs, print_table, size
from resolute.cli.progress import progress_bar
from resolute.client.datasets import DatasetVersion

app = group("Dataset versions: what exactly was trained on.")

Reference = Annotated[str, typer.Argument(metavar="NAME[:VERSION]", help="The newest version when left out.")]
_HEADERS = ("Dataset", "Files", "Size", "Images", "Annotations", "Classes", "Where", "Created")


@command(app, "create")
def create(
    run: Run,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Versions are numbered within it.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="COCO label files and image folders.")],
    annotations: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="A label file in FOLDER; repeatable. All when left out.")
    ] = None,
    images: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="The image folder of each, in order. Found when left out.")
    ] = None,
    parent: Annotated[
        list[str] | None, typer.Option(metavar="NAME:VERSION", help="What it was made from; repeatable.")
    ] = None,
    description: Annotated[str, typer.Option(help="What it is.")] = "",
    uri: Annotated[
        str | None, typer.Option(metavar="URL", help="Where the same files are for the master, if elsewhere.")
    ] = None,
    workspace: Annotated[str | None, typer.Option("--workspace-name", "-w", help="Where it belongs.")] = None,
) -> None:
    """Register what a folder holds, by the sha256 of every file. The same content is the same version."""
    workspace_id = int(run.client.workspaces.get(workspace)["id"]) if workspace else 1
    with progress_bar("Hashing", None, "files") as advance:
        dataset = run.client.datasets.create(
            name,
            folder,
            annotations=annotations or (),
            images=images or (),
            parents=parent or (),
            description=description,
            uri=uri,
            workspace_id=workspace_id,
            on_progress=advance,
        )
    what = "Registered" if dataset.data["isNew"] else "Nothing has changed since"
    run.say(f"{what} {dataset.reference}: {dataset.file_count} files, {size(dataset.size)}", dataset.data)


@command(app, "list", "ls")
def list_datasets(
    run: Run, name: Annotated[str | None, typer.Option(help="Only names with this in them.")] = None
) -> None:
    """List dataset versions, newest first."""
    found = list(run.client.datasets.list(name=name))
    run.show(_HEADERS, [_row(each) for each in found], [each.data for each in found])


def _row(dataset: DatasetVersion) -> tuple[object, ...]:
    return (
        dataset.reference,
        dataset.file_count,
        size(dataset.size),
        dataset.statistics.get("images"),
        dataset.statistics.get("annotations"),
        len(dataset.classes),
        dataset.uri,
        moment(dataset.data.get("createdAt")),
    )


@command(app, "describe")
def describe(run: Run, reference: Reference) -> None:
    """Show a version: where it is, what it holds, what it came from and who used it."""
    dataset = run.client.datasets.get(reference)
    experiments = dataset.experiments()
    if run.is_json:
        print_json({**dataset.data, "experimentIds": experiments})
        return
    print_pairs(
        {
            **dict(zip(_HEADERS, _row(dataset), strict=True)),
            "Content": dataset.content_hash,
            "Labels": dataset.annotations,
            "Parents": dataset.parents,
            "Experiments": experiments,
            "Description": dataset.data.get("description"),
        }
    )
    print()
    print_table(("Class", "Name"), sorted(dataset.classes.items()))


@command(app, "files")
def files(run: Run, reference: Reference) -> None:
    """List the files of a version with their digests."""
    found = list(run.client.datasets.get(reference).files())
    run.show(("File", "Size", "sha256"), [(f["path"], size(f["size"]), f["sha256"]) for f in found], found)


@command(app, "delete")
def delete(
    run: Run,
    reference: Annotated[str, typer.Argument(metavar="NAME:VERSION", help="The version.")],
    force: Annotated[bool, typer.Option("--force", help="Also one that experiments used.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Forget a version. Its files stay, and its number is not given again."""
    dataset = run.client.datasets.get(reference)
    run.confirm(f"Delete dataset {dataset.reference}?", is_agreed=yes)
    dataset.delete(force=force)
    run.say(f"Deleted dataset {dataset.reference}")
