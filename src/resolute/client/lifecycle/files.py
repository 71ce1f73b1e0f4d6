"""A model's files on this machine: what travels to a trial, and what a model server needs beside the weights."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from resolute.client.lifecycle.contract import SERVING_FILE
from resolute.client.lifecycle.definition import Definition
from resolute.client.lifecycle.faults import InvalidModelProperty, UndefinedModelProperty

_WEIGHTS = (".pt", ".pth", ".safetensors", ".onnx")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingParts:
    """`document` is what serving.json holds; `files` are paths below the base folder."""

    document: dict[str, Any]
    files: tuple[str, ...]
    digest: str
    """Equal for equal content: a model exported with it need not be put together again."""


@contextmanager
def staged(definition: Definition, base_dir: Path) -> Iterator[Path]:
    """A folder with the trainer, its extra files and those for serving, each at the path that the user wrote."""
    wanted = [("main_file", definition.main_file)]
    wanted += [("extra_files", path) for path in definition.extra_files]
    wanted += [("requirements", definition.requirements)] if definition.requirements else []
    wanted += [("serving_config", path) for path in serving_parts(definition, base_dir).files]
    sources = {inside(key, path): existing(key, path, base_dir) for key, path in wanted}
    with tempfile.TemporaryDirectory(prefix="resolute-model-") as temporary:
        folder = Path(temporary)
        for name, source in sources.items():
            _mirror(source, folder / name)
        yield folder


def requirements_of(definition: Definition, base_dir: Path) -> str | None:
    """The path of the requirements file, if it asks for anything at all."""
    if definition.requirements is None:
        return None
    file = existing("requirements", definition.requirements, base_dir)
    lines = (line.partition("#")[0].strip() for line in file.read_text().splitlines())
    return str(inside("requirements", definition.requirements)) if any(lines) else None


def serving_parts(definition: Definition, base_dir: Path) -> ServingParts:
    """Empty without a serving configuration."""
    config = definition.serving_config
    if not config:
        return ServingParts(document={}, files=(), digest="")
    files = [config[key] for key in ("model_file", "requirements_file", "config_properties") if key in config]
    files += config.get("extra_files", [])
    handler = config.get("handler", "")
    handler_file = handler.partition(":")[0]
    if handler_file.endswith(".py"):
        files.append(handler_file)
    document: dict[str, Any] = {
        "model_name": definition.service,
        "version": definition.version,
        "handler": handler.replace(handler_file, PurePosixPath(handler_file).name, 1),
        **{key: _bare(config[key]) for key in ("model_file", "serialized_file", "requirements_file") if key in config},
    }
    names = tuple(dict.fromkeys(str(inside("serving_config", path)) for path in files))
    return ServingParts(document=document, files=names, digest=_digest(document, names, base_dir))


def check_servable(definition: Definition) -> None:
    """What the model server cannot do without."""
    for key in ("model_file", "handler"):
        if not definition.serving_config.get(key):
            raise UndefinedModelProperty(
                f"serving_config.{key}: not given. To be served, a {definition.framework.value} model needs "
                'serving_config={"model_file": "model.py", "handler": "image_classifier"}.'
            )


def assemble(target: Path, weights: Path, parts: ServingParts, base_dir: Path) -> None:
    """Fill `target` with what the model server wants: the weights, the code and serving.json."""
    shutil.copytree(weights, target, dirs_exist_ok=True)
    add_serving(target, parts.document, {name: existing("serving_config", name, base_dir) for name in parts.files})


def add_serving(target: Path, document: dict[str, Any], files: dict[str, Path]) -> None:
    """Files lie flat beside the weights, as in an archive. What the trainer exported itself is not replaced."""
    exported = [path.name for path in target.iterdir() if path.suffix in _WEIGHTS]
    for name, source in files.items():
        goal = target / PurePosixPath(name).name
        if goal.exists():
            continue
        if source.is_dir():
            shutil.copytree(source, goal)
        else:
            shutil.copyfile(source, goal)
    if document and not document.get("serialized_file") and len(exported) == 1:
        document = {**document, "serialized_file": exported[0]}
    if document:
        (target / SERVING_FILE).write_text(json.dumps(document, indent=2))


def digest_of(folder: Path) -> str:
    """32 hex digits, equal for equal files: the same model put together twice lies in one place."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"\0{file.relative_to(folder).as_posix()}\0".encode())
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()[:32]


def inside(key: str, path: str) -> PurePosixPath:
    """`path` as a name below the base folder; raises InvalidModelProperty for one that leads out of it."""
    name = PurePosixPath(os.path.normpath(path))
    if name.is_absolute() or ".." in name.parts:
        raise InvalidModelProperty(f"{key}: {path!r} is not below the model's folder. Give a path relative to it.")
    return name


def existing(key: str, path: str, base_dir: Path) -> Path:
    found = base_dir / path
    if not found.exists():
        raise InvalidModelProperty(
            f"{key}: there is no {path!r} in {base_dir}. Check the name, or set base_dir in Config."
        )
    return found


def _mirror(source: Path, goal: Path) -> None:
    """Links, not copies: data may be large, and packing reads through them."""
    if source.is_dir():
        for child in source.iterdir():
            _mirror(child, goal / child.name)
        return
    goal.parent.mkdir(parents=True, exist_ok=True)
    if not goal.exists():
        goal.symlink_to(source.resolve())


def _digest(document: dict[str, Any], names: tuple[str, ...], base_dir: Path) -> str:
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode())
    for name in sorted(names):
        source = existing("serving_config", name, base_dir)
        for file in sorted(source.rglob("*")) if source.is_dir() else [source]:
            if file.is_file():
                digest.update(f"\0{name}\0{file.name}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:32]


def _bare(path: str) -> str:
    return PurePosixPath(path).name
