"""`resolute checkpoint`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.output import moment, print_json, print_pairs, print_table, size
from resolute.cli.progress import progress_bar
from resolute.client.checkpoint import Checkpoint

app = group("Describe, download and delete checkpoints.")

Uuid = Annotated[str, typer.Argument(metavar="UUID", help="The checkpoint.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


class Mode(StrEnum):
    AUTO = "auto"
    DIRECT = "direct"
    MASTER = "master"


@command(app, "describe")
def describe(run: Run, uuid: Uuid) -> None:
    """Show what is known of a checkpoint, and its files."""
    checkpoint = run.client.get_checkpoint(uuid)
    if run.is_json:
        print_json(checkpoint.data)
        return
    print_pairs(_facts(checkpoint))
    print()
    print_table(("File", "Size"), [(path, size(count)) for path, count in sorted(checkpoint.resources.items())])


def _facts(checkpoint: Checkpoint) -> dict[str, object]:
    return {
        "Checkpoint": checkpoint.uuid,
        "State": checkpoint.state,
        "Experiment": checkpoint.experiment_id,
        "Trial": checkpoint.trial_id,
        "Steps": checkpoint.steps_completed,
        "Validation": checkpoint.validation_metrics,
        "Size": size(checkpoint.size),
        "Written": moment(checkpoint.data.get("reportTime")),
        "Metadata": checkpoint.metadata,
    }


@command(app, "download")
def download(
    run: Run,
    uuid: Uuid,
    output_dir: Annotated[Path | None, typer.Option("--output-dir", "-o", help="Where to.")] = None,
    mode: Annotated[Mode, typer.Option(help="From the storage itself, through the master, or what works.")] = Mode.AUTO,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the path only.")] = False,
) -> None:
    """Download the files of a checkpoint."""
    with progress_bar("Downloading"):
        folder = run.client.get_checkpoint(uuid).download(output_dir, mode=mode.value)
    run.say(str(folder) if quiet else f"Downloaded checkpoint {uuid} to {folder}", {"uuid": uuid, "path": str(folder)})


@command(app, "delete")
def delete(
    run: Run,
    uuids: Annotated[str, typer.Argument(metavar="UUID[,UUID...]", help="Separated by commas.")],
    yes: Yes = False,
) -> None:
    """Delete checkpoints and their files."""
    wanted = [uuid.strip() for uuid in uuids.split(",")]
    run.confirm(f"Delete {len(wanted)} checkpoint{'s' if len(wanted) > 1 else ''}?", is_agreed=yes)
    run.client.delete_checkpoints(wanted)
    run.say(f"Deleting {', '.join(wanted)}", {"uuids": wanted, "done": "delete"})


@command(app, "rm")
def remove_files(
    run: Run,
    uuid: Uuid,
    glob: Annotated[list[str], typer.Option(help="Files to remove, such as **/optimizer*; repeatable.")],
    yes: Yes = False,
) -> None:
    """Remove some files of a checkpoint."""
    run.confirm(f"Remove {', '.join(glob)} from checkpoint {uuid}?", is_agreed=yes)
    run.client.get_checkpoint(uuid).remove_files(glob)
    run.say(f"Removing {', '.join(glob)} from checkpoint {uuid}", {"uuid": uuid, "globs": glob})
