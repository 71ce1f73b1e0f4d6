"""`resolute data push | pull`: sets of files to and from stores."""

from pathlib import Path
from typing import Annotated

import typer

from resolute import imagery
from resolute.cli.command import Run, command, group
from resolute.cli.data_options import EITHER_DASH, progress_bar
from resolute.cli.output import size

app = group("Sets of files to and from stores.")

Url = Annotated[str, typer.Argument(metavar="URL", help="A folder, or s3://bucket/prefix, gs://..., az://...")]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder on this machine.")]
Parallel = Annotated[int, typer.Option("--workers", "-j", min=1, help="Files moved at the same time.")]


@command(app, "push", context_settings=EITHER_DASH)
def push(run: Run, folder: Folder, url: Url, workers: Parallel = 16) -> None:
    """Copy a folder to a store, with a manifest of sha256. What has arrived is not sent again."""
    with progress_bar("Pushing", None) as on_progress:
        done = imagery.push(folder, url, workers=workers, on_progress=on_progress)
    _finish(run, done, "Pushed", url)


@command(app, "pull", context_settings=EITHER_DASH)
def pull(run: Run, url: Url, folder: Folder, workers: Parallel = 16) -> None:
    """Copy a pushed set to a folder, each file checked against the manifest. What is there is not fetched again."""
    with progress_bar("Pulling", None) as on_progress:
        done = imagery.pull(url, folder, workers=workers, on_progress=on_progress)
    _finish(run, done, "Pulled", str(folder))


def _finish(run: Run, done: "imagery.TransferResult", verb: str, target: str) -> None:
    raw = {"moved": done.moved, "skipped": done.skipped, "bytes": done.moved_bytes, "failures": done.failures}
    sentence = f"{verb} {done.moved} file(s), {size(done.moved_bytes)}, to {target}; {done.skipped} were there already."
    run.say(sentence, raw)
    for failure in done.failures:
        typer.echo(f"Error: {failure}", err=True)
    if done.failures:
        raise typer.Exit(1)
