"""A TorchServe folder: config/config.properties beside model-store/*.mar. Finds the archive to serve; runs nothing."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from resolute.domain.errors import InvalidInput, ResoluteError
from resolute.serving.archive.read import is_archive, peek_manifest

CONFIG = "config/config.properties"
STORE = "model-store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    archive: Path
    settings: dict[str, Any] = field(default_factory=dict)
    """What the snapshot says of it: batchSize, maxBatchDelay, minWorkers ..."""


def is_model_store(folder: Path) -> bool:
    return (folder / CONFIG).is_file() or (folder / STORE).is_dir()


def names_in(source: Path) -> tuple[str, ...]:
    """What a TorchServe folder or an archive calls its model; nothing where that cannot be read: loading says why."""
    try:
        if source.is_dir() and is_model_store(source):
            choice = choose_archive(source, None)
            named = (choice.settings["model"],) if "model" in choice.settings else ()
            return tuple(dict.fromkeys((*named, peek_manifest(choice.archive).name)))
        return (peek_manifest(source).name,) if source.is_file() and is_archive(source) else ()
    except (ResoluteError, OSError):
        return ()


def choose_archive(folder: Path, wanted: str | None) -> Choice:
    """The snapshot's default version of `wanted`, or of the only model there is."""
    snapshot = _snapshot(folder)
    if snapshot:
        name = _pick(list(snapshot), wanted, folder)
        settings = _default_version(name, snapshot[name])
        return Choice(archive=_archive(folder, str(settings.get("marName", f"{name}.mar"))), settings=settings)
    archives = {path.stem: path for path in sorted(_store(folder).glob("*.mar"))}
    return Choice(archive=archives[_pick(list(archives), wanted, folder)])


def read_properties(text: str) -> dict[str, str]:
    """Java properties as TorchServe's files use them: key=value, # or ! before comments, a backslash goes on."""
    pairs = {}
    for line in text.replace("\\\n", "").splitlines():
        key, separator, value = line.strip().partition("=")
        if separator and key and key[0] not in "#!":
            pairs[key.strip()] = value.strip()
    return pairs


def _snapshot(folder: Path) -> dict[str, Any]:
    file = folder / CONFIG
    if not file.is_file():
        return {}
    text = read_properties(file.read_text()).get("model_snapshot")
    if not text:
        return {}
    try:
        models = json.loads(text)["models"]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise InvalidInput(f"{CONFIG}: model_snapshot is not the JSON that TorchServe writes: {error!r}.") from None
    if not isinstance(models, dict) or not all(isinstance(each, dict) and each for each in models.values()):
        raise InvalidInput(f'{CONFIG}: model_snapshot must hold {{"models": {{"<name>": {{"<version>": ...}}}}}}.')
    return models


def _default_version(name: str, versions: dict[str, Any]) -> dict[str, Any]:
    chosen = next((each for each in versions.values() if each.get("defaultVersion")), None)
    settings: dict[str, Any] = chosen if chosen is not None else versions[max(versions)]
    return settings | {"model": name}


def _pick(names: list[str], wanted: str | None, folder: Path) -> str:
    listed = ", ".join(sorted(names)) or "none"
    if wanted is not None:
        if wanted not in names:
            raise InvalidInput(f"{folder.name} has no model {wanted!r}; it has {listed}.")
        return wanted
    if len(names) != 1:
        raise InvalidInput(f"{folder.name} has {len(names)} models ({listed}); say which with the option `model`.")
    return names[0]


def _archive(folder: Path, name: str) -> Path:
    path = _store(folder) / name
    if Path(name).name != name or not path.is_file():
        found = ", ".join(sorted(each.name for each in _store(folder).glob("*.mar"))) or "no archives"
        raise InvalidInput(f"{CONFIG} names {name}, which is not in {STORE}; it holds {found}.")
    return path


def _store(folder: Path) -> Path:
    """The path in the file is that of the container it was written for; here it is beside the configuration."""
    return folder / STORE if (folder / STORE).is_dir() else folder
