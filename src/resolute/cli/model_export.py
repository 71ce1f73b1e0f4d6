"""`resolute model export | package | strip`: models as files for other programs. No master is needed for local folders.

Torch is loaded when a command runs, not for help.
"""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from resolute.cli.command import Run, command
from resolute.cli.detector_options import checkpoint_of_model
from resolute.cli.output import size
from resolute.cli.progress import progress_bar
from resolute.domain.errors import AlreadyExists, InvalidInput
from resolute.serving.archive import ArchiveFormat, ArchiveParts, write_archive

if TYPE_CHECKING:
    from resolute.serving.model import TensorSpec

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SIZE = re.compile(r"(\d+)(?:x(\d+))?")
_EITHER_DASH = {"token_normalize_func": lambda token: token.replace("_", "-"), "help_option_names": ["-h", "--help"]}

Force = Annotated[bool, typer.Option("--force", "-f", help="Replace what is there.")]
Format = Literal["safetensors", "torchscript", "onnx", "torch.export", "mar"]


def add_export_commands(app: typer.Typer) -> None:
    """Give the group `resolute model` its commands about files."""
    command(app, "export")(export_model)
    command(app, "package", context_settings=_EITHER_DASH)(package)
    command(app, "strip", context_settings=_EITHER_DASH)(strip)


def export_model(
    run: Run,
    source: Annotated[str, typer.Argument(metavar="FOLDER|NAME[/VERSION]|UUID", help="Folder, model or checkpoint.")],
    format: Annotated[Format, typer.Option("--format", help="What to write.")] = "onnx",
    out: Annotated[Path, typer.Option("--out", "-o", help="File, or folder to write into.")] = Path(),
    force: Force = False,
    input_shape: Annotated[
        list[str] | None,
        typer.Option("--input-shape", metavar="[NAME=]-1,3,224,224[:FP32]", help="Of a plain module; repeatable."),
    ] = None,
    image_size: Annotated[
        str | None, typer.Option("--image-size", metavar="N|WxH", help="Picture that a detector is watched with.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the file or archive.")] = None,
    version: Annotated[str, typer.Option("--version", help="Version in the archive.")] = "1.0",
    handler: Annotated[str | None, typer.Option("--handler", help="Handler of the archive.")] = None,
) -> None:
    """Write a model as a file of another format, and check that it answers as before."""
    inputs = [parse_input(text) for text in input_shape or []]
    picture = parse_size(image_size) if image_size else None
    with progress_bar("Exporting"), _folder(run, source) as folder:
        from resolute.serving.export import export

        path = export(
            folder,
            format,
            out,
            force,
            inputs=inputs,
            image_size=picture,
            name=name,
            version=version,
            handler=handler,
        )
    length = path.stat().st_size
    run.say(f"Wrote {path} ({size(length)})", {"path": str(path), "format": format, "bytes": length})


def package(
    run: Run,
    model_name: Annotated[str, typer.Option("--model-name", help="Name of the model and of the file.")],
    version: Annotated[str, typer.Option("--version", "-v", help="Version of the model.")],
    handler: Annotated[str, typer.Option("--handler", help="A built-in handler, a file, or file:function.")],
    serialized_file: Annotated[
        Path | None, typer.Option("--serialized-file", help="Weights, TorchScript, ONNX.")
    ] = None,
    model_file: Annotated[Path | None, typer.Option("--model-file", help="Python file with the model's class.")] = None,
    extra_files: Annotated[str | None, typer.Option("--extra-files", help="Paths separated by commas.")] = None,
    requirements_file: Annotated[
        Path | None, typer.Option("--requirements-file", "-r", help="Packages needed.")
    ] = None,
    config_file: Annotated[Path | None, typer.Option("--config-file", "-c", help="YAML for the handler.")] = None,
    export_path: Annotated[Path, typer.Option("--export-path", help="Folder to write into.")] = Path(),
    archive_format: Annotated[
        Literal["default", "tgz", "no-archive", "zip-store"], typer.Option("--archive-format", help="How it is packed.")
    ] = "default",
    runtime: Annotated[
        Literal["python", "python3"], typer.Option("--runtime", help="Written into the archive.")
    ] = "python",
    force: Force = False,
) -> None:
    """Pack a model into a .mar archive. Takes the options of torch-model-archiver and makes what it would make."""
    parts = ArchiveParts(
        name=model_name,
        version=version,
        handler=handler,
        serialized_file=serialized_file,
        model_file=model_file,
        extra_files=extra_files,
        requirements_file=requirements_file,
        config_file=config_file,
        runtime=runtime,
    )
    now = datetime.now().astimezone()
    with progress_bar("Packing"):
        path = write_archive(parts, export_path, now=now, archive_format=ArchiveFormat(archive_format), force=force)
    run.say(f"Wrote {path}", {"path": str(path), "format": archive_format})


def strip(
    run: Run,
    checkpoint: Annotated[Path, typer.Option("--ckpt-path", help="Checkpoint file or folder.")],
    target: Annotated[Path, typer.Option("--new-ckpt-name", help="Where to; .pth or .safetensors.")],
    force: Force = False,
) -> None:
    """Keep the weights of a checkpoint and nothing else."""
    if target.suffix not in (".pth", ".pt", ".safetensors"):
        raise InvalidInput(f"--new-ckpt-name {target} must end in .pth, .pt or .safetensors.")
    if target.exists() and not force:
        raise AlreadyExists(f"{target} already exists. Use --force to replace it, or another name.")
    from resolute.serving.weights import strip_checkpoint, write_safetensors, write_state_dict

    with progress_bar("Stripping"):
        state = strip_checkpoint(checkpoint)
        write = write_safetensors if target.suffix == ".safetensors" else write_state_dict
        write(state, target)
    length = target.stat().st_size
    raw = {"path": str(target), "tensors": len(state), "bytes": length}
    run.say(f"Wrote {len(state)} tensors to {target} ({size(length)})", raw)


def parse_input(text: str) -> "TensorSpec":
    """`-1,3,224,224`, with the input's name before and its type after where they matter; no name: as in the code."""
    from resolute.serving.model import NUMPY_TYPES, TensorSpec

    name, _, rest = text.rpartition("=")
    numbers, _, datatype = rest.partition(":")
    try:
        shape = tuple(int(part) for part in numbers.split(","))
    except ValueError:
        shape = ()
    if not shape or any(part == 0 or part < -1 for part in shape) or (datatype or "FP32") not in NUMPY_TYPES:
        raise InvalidInput(f"--input-shape {text}: wanted sizes such as -1,3,224,224 or ids=-1,16:INT64.")
    return TensorSpec(name=name, datatype=datatype or "FP32", shape=shape)


def parse_size(text: str) -> tuple[int, int]:
    """Height and width of `640` or `640x480` (width first)."""
    found = _SIZE.fullmatch(text)
    if found is None or 0 in (int(part) for part in found.groups() if part):
        raise InvalidInput(f"--image-size {text}: wanted pixels such as 640 or 640x480 (width x height).")
    width, height = int(found[1]), int(found[2] or found[1])
    return height, width


@contextmanager
def _folder(run: Run, source: str) -> Iterator[Path]:
    """A local folder as it is; a checkpoint or registered model is downloaded for the time of the command."""
    if Path(source).exists() or source.startswith((".", "/", "~")):
        yield Path(source).expanduser()
        return
    uuid = source if _UUID.fullmatch(source) else checkpoint_of_model(run, source)
    with tempfile.TemporaryDirectory(prefix="resolute-export-") as scratch:
        yield run.client.get_checkpoint(uuid).download(Path(scratch) / uuid)
