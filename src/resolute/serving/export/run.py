"""`export`: a model to a file of the format asked for, complete and checked, or nothing."""

import json
import os
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from torch import nn

from resolute.domain.errors import AlreadyExists, InvalidInput, NotSupported, ResoluteError
from resolute.imagery.preprocessing import RECORD
from resolute.serving.archive import ArchiveParts, check_name, write_archive
from resolute.serving.export.checking import check_same
from resolute.serving.export.formats import (
    SUFFIXES,
    WRITERS,
    ExportFormat,
    formats_of,
    refusals_of,
    write_archived_script,
)
from resolute.serving.export.source import Exportable, open_source
from resolute.serving.loading import MODEL_FILE
from resolute.serving.model import TensorSpec
from resolute.serving.weights import write_state_dict

_LABELS = "index_to_name.json"


def export(
    source: Path | nn.Module | Exportable,
    format: str,
    out: Path,
    force: bool = False,
    *,
    inputs: Sequence[TensorSpec] = (),
    image_size: tuple[int, int] | None = None,
    name: str | None = None,
    version: str = "1.0",
    handler: str | None = None,
) -> Path:
    """The file written. `out` is a file, or a folder in which it gets the model's name.

    `name`, `version` and `handler` are for archives. Raises NotSupported with the formats that work.
    """
    wanted = _format(format)
    target = _target(out, name, wanted)
    _refuse_existing(target, force)
    opened = source if isinstance(source, Exportable) else open_source(source, inputs=inputs, image_size=image_size)
    reason = refusals_of(opened).get(wanted)
    if reason is not None:
        raise _unsupported(opened, wanted, reason)
    target = target or out / f"{name or opened.name}{SUFFIXES[wanted]}"
    _refuse_existing(target, force)
    if wanted is ExportFormat.MAR:
        return _write_mar(opened, target, version=version, handler=handler, force=force)
    return _write(opened, target, wanted)


def _format(text: str) -> ExportFormat:
    try:
        return ExportFormat(text)
    except ValueError:
        raise InvalidInput(f"There is no format {text!r}; there are {', '.join(ExportFormat)}.") from None


def _target(out: Path, name: str | None, wanted: ExportFormat) -> Path | None:
    """None: a folder, and the model's own name is not known yet."""
    if out.is_dir():
        return out / f"{name}{SUFFIXES[wanted]}" if name else None
    if not out.parent.is_dir():
        raise InvalidInput(f"The folder {out.parent} does not exist. Make it, or choose another --out.")
    if out.suffix != SUFFIXES[wanted]:
        raise InvalidInput(f"--out {out.name} does not fit {wanted}: such files end in {SUFFIXES[wanted]}.")
    return out


def _refuse_existing(target: Path | None, force: bool) -> None:
    if target is not None and target.exists() and not force:
        raise AlreadyExists(f"{target} already exists. Use --force to replace it, or another --out.")


def _write(source: Exportable, target: Path, wanted: ExportFormat) -> Path:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".export-") as scratch:
        fresh = Path(scratch) / target.name
        try:
            WRITERS[wanted](source, fresh)
        except ResoluteError:
            raise
        except Exception as error:
            raise _unsupported(source, wanted, _first_line(error)) from error
        check_same(source, fresh, wanted)
        os.replace(fresh, target)
    return target


def _write_mar(source: Exportable, target: Path, *, version: str, handler: str | None, force: bool) -> Path:
    name = check_name(target.stem)
    with tempfile.TemporaryDirectory(prefix="resolute-export-") as scratch:
        parts = _detector_parts if source.is_detector else _module_parts
        made = parts(source, Path(scratch), name, version, handler)
        return write_archive(made, target.parent, now=datetime.now().astimezone(), force=force)


def _detector_parts(source: Exportable, folder: Path, name: str, version: str, handler: str | None) -> ArchiveParts:
    """TorchScript and class names for `object_detector`: served here and by TorchServe."""
    classes = ["__background__", *(row["name"] for row in source.note["classes"])]
    (folder / _LABELS).write_text(json.dumps({str(label): text for label, text in enumerate(classes)}, indent=1))
    extra = [folder / _LABELS]
    if source.note.get("preprocessing"):
        extra.append(folder / RECORD)
        extra[-1].write_text(json.dumps(source.note["preprocessing"], indent=1))
    try:
        write_archived_script(source, folder / "model.pt")
    except Exception as error:
        raise _unsupported(source, ExportFormat.MAR, _first_line(error)) from error
    return ArchiveParts(
        name=name,
        version=version,
        handler=handler or "object_detector",
        serialized_file=folder / "model.pt",
        extra_files=",".join(map(str, extra)),
    )


def _module_parts(source: Exportable, folder: Path, name: str, version: str, handler: str | None) -> ArchiveParts:
    """The model file itself, and weights as a state dict, beside it."""
    if source.folder is None:
        raise InvalidInput(
            f"An archive needs the code of {source.name}: export a folder with {MODEL_FILE} and weights."
        )
    weights = folder / "weights.pth"
    write_state_dict(source.module.state_dict(), weights)
    labels = source.folder / _LABELS
    return ArchiveParts(
        name=name,
        version=version,
        handler=handler or "base_handler",
        model_file=source.folder / MODEL_FILE,
        serialized_file=weights,
        extra_files=str(labels) if labels.is_file() else None,
    )


def _unsupported(source: Exportable, wanted: ExportFormat, reason: str) -> NotSupported:
    others = ", ".join(each for each in formats_of(source) if each is not wanted)
    return NotSupported(f"{source.name} cannot be exported as {wanted}: {reason}. Formats that work: {others}.")


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:240].rstrip(".") if lines else type(error).__name__
