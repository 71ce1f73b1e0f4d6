"""What a user says of a model, checked: the properties that `Model` is made from. Reads no files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from resolute.client.lifecycle.faults import InvalidModelProperty, UndefinedModelProperty
from resolute.client.lifecycle.framework import ModelFramework
from resolute.client.lifecycle.naming import sanitize

Json = dict[str, Any]
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_NEEDED = ("id", "name", "version", "framework", "framework_version", "main_file")
SERVING_KEYS = (
    "model_file",
    "handler",
    "serialized_file",
    "extra_files",
    "requirements_file",
    "config_properties",
    "protocol_version",
)
PROTOCOLS = ("v1", "v2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    id: str
    name: str
    description: str
    version: str
    framework: ModelFramework
    framework_version: str
    main_file: str
    image_name: str | None = None
    base_image: str | None = None
    extra_files: tuple[str, ...] = ()
    requirements: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    serving_config: Json = field(default_factory=dict)

    @property
    def service(self) -> str:
        """Name of the deployment, of the served model and in the registry."""
        return sanitize(self.id)

    @property
    def image(self) -> str | None:
        """The image's name with its tag; a tag that is left out is made from what the model is."""
        if not self.image_name or ":" in self.image_name.rpartition("/")[2]:
            return self.image_name
        return f"{self.image_name}:{self.service}-{self.framework.value}-{self.framework_version}"

    @property
    def protocol(self) -> str:
        return str(self.serving_config.get("protocol_version") or "v1").lower()

    def as_data(self) -> Json:
        return {**asdict(self), "framework": self.framework.value, "extra_files": list(self.extra_files)}


def define(**given: Any) -> Definition:
    """Raises UndefinedModelProperty for what is missing and InvalidModelProperty for what cannot work."""
    for key in _NEEDED:
        if given.get(key) in (None, ""):
            raise UndefinedModelProperty(f"{key}: not given. A model needs {', '.join(_NEEDED)}.")
    framework = ModelFramework.of(given["framework"])
    for key in ("id", "name", "description", "version", "framework_version", "main_file"):
        _check_text(key, given.get(key) or "")
    for key in ("image_name", "base_image", "requirements"):
        if given.get(key) is not None:
            _check_text(key, given[key])
    if not _ID.fullmatch(given["id"]):
        raise InvalidModelProperty(
            f"id: {given['id']!r} is not a path of names such as dev/mnist: letters, digits, '.', '_' and '-'."
        )
    sanitize(given["id"])
    if not given["main_file"].endswith(".py"):
        raise InvalidModelProperty(f"main_file: {given['main_file']!r} is not a Python file. Name the trainer's file.")
    return Definition(
        **{
            **given,
            "framework": framework,
            "description": given.get("description") or "",
            "extra_files": _texts("extra_files", given.get("extra_files")),
            "labels": _labels(given.get("labels")),
            "serving_config": check_serving(given.get("serving_config")),
        }
    )


def check_serving(given: Mapping[str, Any] | None) -> Json:
    """A serving configuration by itself; what a framework needs of it is asked when it is deployed."""
    if not given:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidModelProperty(f"serving_config: {given!r} is not a dictionary with {', '.join(SERVING_KEYS)}.")
    unknown = sorted(set(given) - set(SERVING_KEYS))
    if unknown:
        raise InvalidModelProperty(f"serving_config: unknown key {unknown[0]!r}. Known are {', '.join(SERVING_KEYS)}.")
    config = {key: value for key, value in given.items() if value not in (None, "")}
    extra = config.pop("extra_files", ())
    if isinstance(extra, str):
        extra = [part.strip() for part in extra.split(",") if part.strip()]
    for key, value in config.items():
        _check_text(f"serving_config.{key}", value)
    protocol = str(config.get("protocol_version", "v1")).lower()
    if protocol not in PROTOCOLS:
        raise InvalidModelProperty(f"serving_config.protocol_version: {protocol!r}. Choose v1 or v2.")
    files = _texts("serving_config.extra_files", extra)
    return {**config, **({"extra_files": list(files)} if files else {})}


def _check_text(key: str, value: Any) -> None:
    if not isinstance(value, str):
        raise InvalidModelProperty(f"{key}: {value!r} is a {type(value).__name__}; give text.")


def _texts(key: str, given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(each, str) for each in given):
        raise InvalidModelProperty(f"{key}: {given!r} is not a list of paths.")
    return tuple(given)


def _labels(given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(key): str(value) for key, value in given.items()}
    return dict.fromkeys(_texts("labels", given), "")
