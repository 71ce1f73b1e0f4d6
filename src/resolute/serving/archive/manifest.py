"""MAR-INF/MANIFEST.json: what is in an archive and which part plays which role. Pure: no files are touched."""

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from resolute.domain.errors import InvalidInput

MANIFEST_PATH = "MAR-INF/MANIFEST.json"
ARCHIVER_VERSION = "0.12.0"
"""The format that is written: the one of this release of torch-model-archiver."""
BUILT_IN_HANDLERS = ("base_handler", "image_classifier", "image_segmenter", "object_detector", "text_classifier")
"""Handlers that come with the server: an archive names them and carries no file."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-.]*")
_ROLES = {
    "serializedFile": "serialized_file",
    "modelFile": "model_file",
    "requirementsFile": "requirements_file",
    "configFile": "config_file",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """File fields are bare names inside the archive."""

    name: str
    version: str
    handler: str
    """A built-in's name, `file.py`, or `file.py:function` (the suffix may be missing)."""
    serialized_file: str | None = None
    model_file: str | None = None
    requirements_file: str | None = None
    config_file: str | None = None
    runtime: str = "python"
    raw: dict[str, Any] = field(default_factory=dict)
    """The whole document as it was read, for handlers that look things up themselves."""

    @property
    def handler_file(self) -> str | None:
        """None for a built-in handler."""
        name = self.handler.partition(":")[0]
        if name in BUILT_IN_HANDLERS:
            return None
        return name if name.endswith(".py") else f"{name}.py"

    @property
    def handler_function(self) -> str | None:
        return self.handler.partition(":")[2] or None

    def files(self) -> dict[str, str]:
        """Role to file name, for every file that the manifest speaks of."""
        named = {key: getattr(self, attribute) for key, attribute in _ROLES.items()} | {"handler": self.handler_file}
        return {role: name for role, name in named.items() if name}


def check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} cannot be the name of a model: it must begin with a letter or digit, and hold letters, digits, "
            "'_', '-' and '.' only."
        )
    return name


def manifest_text(manifest: Manifest, *, now: datetime) -> str:
    """In the order of keys and the date format that torch-model-archiver writes."""
    model: dict[str, Any] = {
        "modelName": manifest.name,
        "serializedFile": manifest.serialized_file,
        "handler": manifest.handler,
        "modelFile": manifest.model_file,
        "modelVersion": manifest.version,
        "requirementsFile": manifest.requirements_file,
        "configFile": manifest.config_file,
    }
    document = {
        "createdOn": now.strftime("%d/%m/%Y %H:%M:%S"),
        "runtime": manifest.runtime,
        "model": {key: value for key, value in model.items() if value},
        "archiverVersion": ARCHIVER_VERSION,
    }
    return json.dumps(document, indent=2)


def parse_manifest(text: str | bytes, where: str) -> Manifest:
    """Raises InvalidInput for what is not a manifest, or for file names that lead out of the archive."""
    document = _document(text, where)
    model = document.get("model")
    if not isinstance(model, dict):
        raise InvalidInput(f"{where}: {MANIFEST_PATH} has no `model` section. Make the archive again.")
    name, handler = model.get("modelName"), model.get("handler")
    if not isinstance(name, str) or not isinstance(handler, str) or not handler:
        raise InvalidInput(f"{where}: {MANIFEST_PATH} must give `model.modelName` and `model.handler` as text.")
    runtime = str(document.get("runtime", "python"))
    if not runtime.startswith("python"):
        raise InvalidInput(f"{where} is for the runtime {runtime!r}; handlers in Python are served, no others.")
    return Manifest(
        name=check_name(name),
        version=str(model.get("modelVersion", "1.0")),
        handler=_bare(handler, "handler", where),
        runtime=runtime,
        raw=document,
        **{attribute: _bare(model[key], key, where) for key, attribute in _ROLES.items() if model.get(key)},
    )


def _document(text: str | bytes, where: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidInput(f"{where}: {MANIFEST_PATH} is not JSON: {error}. Make the archive again.") from None
    if not isinstance(document, dict):
        raise InvalidInput(f"{where}: {MANIFEST_PATH} must hold a JSON object, not a {type(document).__name__}.")
    return document


def _bare(value: Any, key: str, where: str) -> str:
    """Kinder writers put whole paths; what counts is a name inside the archive."""
    text = str(value)
    if PurePosixPath(text).is_absolute() or ".." in PurePosixPath(text).parts or "\\" in text or "\0" in text:
        raise InvalidInput(f"{where}: {MANIFEST_PATH} names {text!r} as {key}, which is not a file inside the archive.")
    return text
