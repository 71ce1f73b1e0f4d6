"""`resolute data push | pull | pack`: sets of files to and from stores."""

from pathlib import Path
from typing import Annotated

import typer

from resolute import imagery
from resolute.cli.command import Run, command, group
from resolute.cli.data_options import EITHER_DASH
from resolute.cli.output import size
from resolute.cli.progress import progress_bar

app = group("Sets of files to and from stores.")

Url = Annotated[str, typer.Argument(metavar="URL", help="A folder, or s3://bucket/prefix, gs://..., az://...")]
Source = Annotated[
    str, typer.Argument(metavar="URL", help="A pushed set: a folder, s3://, gs://, az://; or a file at https://...")
]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder on this machine.")]
Parallel = Annotated[int, typer.Option("--workers", "-j", min=1, help="Files moved at the same time.")]


@command(app, "push", context_settings=EITHER_DASH)
def push(run: Run, folder: Folder, url: Url, workers: Parallel = 16) -> None:
    """Copy a folder to a store, with a manifest of sha256. What has arrived is not sent again."""
    with progress_bar("Pushing", None, "files") as on_progress:
        done = imagery.push(folder, url, workers=workers, on_progress=on_progress)
    _finish(run, done, "Pushed", url)


@command(app, "pull", context_settings=EITHER_DASH)
def pull(run: Run, url: Source, folder: Folder, workers: Parallel = 16) -> None:
    """Copy a pushed set to a folder, each file checked against the manifest. What is there is not fetched again.

    An address of https:// is one file: it is downloaded, and goes on where it broke off.
    """
    if url.lower().startswith(("http://", "https://")):
        _download(run, url, folder)
        return
    with progress_bar("Pulling", None, "files") as on_progress:
        done = imagery.pull(url, folder, workers=workers, on_progress=on_progress)
    _finish(run, done, "Pulled", str(folder))


@command(app, "pack", context_settings=EITHER_DASH)
def pack(
    run: Run,
    images: Annotated[Path, typer.Argument(metavar="IMAGES", help="The folder of the images.")],
    annotations: Annotated[Path, typer.Argument(metavar="LABELS", help="Their COCO label file.")],
    url: Url,
    shard_mb: Annotated[int, typer.Option("--shard-mb", min=1, help="Megabytes in a shard.")] = 64,
    seed: Annotated[int, typer.Option("--seed", help="Of the order in which images are packed.")] = 0,
    in_order: Annotated[bool, typer.Option("--in-order", help="Keep the order of the label file.")] = False,
) -> None:
    """Pack images and labels into a few large shards that training streams from a store."""
    with progress_bar("Packing", None, "images") as on_progress:
        done = imagery.pack(
            images,
            annotations,
            url,
            shard_bytes=shard_mb << 20,
            seed=None if in_order else seed,
            on_progress=on_progress,
        )
    raw = {"images": done.images, "shards": done.shards, "bytes": done.size, "missing": done.missing}
    left_out = (
        f" {len(done.missing)} image(s) are missing and were left out, such as {done.missing[0]}."
        if done.missing
        else ""
    )
    run.say(f"Packed {done.images} image(s), {size(done.size)}, into {done.shards} shard(s) at {url}.{left_out}", raw)


def _download(run: Run, url: str, folder: Path) -> None:
    with progress_bar("Downloading", None, "bytes") as on_progress:
        done = imagery.download(url, folder, on_progress=on_progress)
    raw = {"file": str(done.path), "size": done.size, "moved": done.moved_bytes}
    if done.moved_bytes or not done.size:
        run.say(f"Downloaded {done.path}, {size(done.size)}.", raw)
        return
    run.say(f"{done.path} was there already, {size(done.size)}.", raw)


def _finish(run: Run, done: "imagery.TransferResult", verb: str, target: str) -> None:
    raw = {"moved": done.moved, "skipped": done.skipped, "bytes": done.moved_bytes, "failures": done.failures}
    sentence = f"{verb} {done.moved} file(s), {size(done.moved_bytes)}, to {target}; {done.skipped} were there already."
    run.say(sentence, raw)
    for failure in done.failures:
        typer.echo(f"Error: {failure}", err=True)
    if done.failures:
        raise typer.Exit(1)
