"""Dataset versions: registered by content, named as `name:version`, linked to the experiments that used them.

Files stay where they are. What is read back is checked against the manifest, so only known bytes are ever handed on.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from resolute.domain.dataset import DatasetClass, DatasetFile, DatasetVersion
from resolute.domain.errors import IllegalTransition, InvalidConfig, InvalidInput, NotFound
from resolute.domain.user import User
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.unit_of_work import flow
from resolute.spec import manifest

LATEST = "latest"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_PLACES = ("/", "s3://", "gs://", "az://", "file:///")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDataset:
    """What a user sends to register a version."""

    name: str
    uri: str
    packed_manifest: bytes
    annotations: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    classes: tuple[DatasetClass, ...] = ()
    parents: tuple[str, ...] = ()
    """As `name:version`."""
    statistics: dict[str, object] = field(default_factory=dict)
    description: str = ""
    workspace_id: int = 1


# -------------------------------------------------------------------------------------------------------- register


def register_dataset(platform: Platform, given: NewDataset, *, user: User) -> tuple[DatasetVersion, bool]:
    """The version, and whether it is new: the same content under the same name is the version it was."""
    _check_name(given.name)
    _check_place(given.uri)
    _check_classes(given.classes)
    files = manifest.unpack(given.packed_manifest)
    manifest.check(files)
    images = _check_labels(given, {file.path for file in files})
    # Large sets take a second; nobody else's write waits for it.
    content_hash, packed = manifest.content_hash(files), manifest.pack(files)
    with flow(platform) as current:
        tx = current.tx
        tx.workspaces.get(given.workspace_id).require_open()
        newest = tx.datasets.find(given.name)
        dataset = tx.datasets.add(
            DatasetVersion(
                id=0,
                name=given.name,
                version=0,
                content_hash=content_hash,
                uri=given.uri.rstrip("/") or "/",
                annotations=given.annotations,
                images=images,
                manifest_id=tx.contexts.put(packed),
                file_count=len(files),
                size=sum(file.size for file in files),
                user_id=user.id,
                workspace_id=given.workspace_id,
                created_at=current.now,
                description=given.description,
                classes=given.classes,
                parents=tuple(dict.fromkeys(resolve(tx, parent).id for parent in given.parents)),
                statistics=given.statistics,
            )
        )
        is_new = dataset.id > (newest.id if newest else 0)
        if is_new:
            current.added(dataset)
    return dataset, is_new


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"A dataset cannot be called {name[:140]!r}. Use up to 128 letters, digits, '.', '_' and '-', "
            "the first a letter or a digit."
        )


def _check_place(uri: str) -> None:
    if not uri.startswith(_PLACES):
        raise InvalidInput(
            f"uri: {uri!r} is no place that the master can read. Give a whole path, or an address of s3://, gs:// or "
            "az://."
        )


def _check_classes(classes: Sequence[DatasetClass]) -> None:
    seen: dict[int, str] = {}
    for each in classes:
        if not each.name.strip():
            raise InvalidInput(f"classes: class {each.id} has no name. Give every class one.")
        if each.id in seen:
            raise InvalidInput(
                f"classes: id {each.id} is given to {seen[each.id]!r} and to {each.name!r}. Give every class its own."
            )
        seen[each.id] = each.name


def _check_labels(given: NewDataset, paths: set[str]) -> tuple[str, ...]:
    """The image folder of every label file, as it is stored: without `./` and a slash at its end."""
    for path in given.annotations:
        if path not in paths:
            raise InvalidInput(f"annotations: {path!r} is not in the manifest. Name label files as the manifest does.")
    if given.images and len(given.images) != len(given.annotations):
        raise InvalidInput(
            f"images: there are {len(given.images)} image folders for {len(given.annotations)} label files. "
            "Give one for each, in the same order."
        )
    folders = tuple(folder.removeprefix("./").strip("/") for folder in given.images or [""] * len(given.annotations))
    folders = tuple("" if folder == "." else folder for folder in folders)
    for folder in folders:
        if folder and not any(path.startswith(f"{folder}/") for path in paths):
            raise InvalidInput(f"images: the manifest has no file in {folder!r}. Name the folder the images are in.")
    return folders


# ------------------------------------------------------------------------------------------------------------ find


def find_dataset(tx: Transaction, name: str, version: str = LATEST) -> DatasetVersion:
    """`version` is a number or `latest`. Raises NotFound that says which there are."""
    if version != LATEST and not (version.isascii() and version.isdecimal()):
        raise InvalidInput(
            f"{name}:{version} names no dataset: {version!r} is no version. Give a number, or {LATEST!r}."
        )
    found = tx.datasets.find(name, None if version == LATEST else int(version))
    if found is None:
        raise NotFound(_not_found(tx, name, version))
    return found


def _not_found(tx: Transaction, name: str, version: str) -> str:
    everything = tx.datasets.search()
    versions = sorted(each.version for each in everything if each.name == name)
    if versions:
        return f"dataset not found: {name}:{version}. There are: {', '.join(f'{name}:{n}' for n in versions)}."
    names = ", ".join(sorted({each.name for each in everything})) or "none yet; `resolute dataset create` makes one"
    return f"dataset not found: {name}. There are: {names}."


def resolve(tx: Transaction, reference: str) -> DatasetVersion:
    """`name:3`, `name:latest` or `name`."""
    name, _, version = reference.partition(":")
    return find_dataset(tx, name, version or LATEST)


def dataset_references(config: dict[str, object]) -> list[tuple[str, str]]:
    """Name and version (empty: the newest) of each dataset that a configuration names under `data.dataset`."""
    return [(each.partition(":")[0], each.partition(":")[2]) for each in _wanted(config)[1]]


def _wanted(config: dict[str, object]) -> tuple[object, list[str]]:
    """What stands under `data.dataset`, and the references in it; none when it is something of the user's own."""
    data = config.get("data")
    wanted = data.get("dataset") if isinstance(data, dict) else None
    references = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(references, list) or not all(isinstance(each, str) for each in references):
        return wanted, []
    return wanted, references


def resolve_config(tx: Transaction, config: dict[str, object]) -> tuple[dict[str, object], tuple[int, ...]]:
    """A configuration whose `data.dataset` names exact versions, and their ids. What is no text or list of texts
    under that key is the user's own, and is left alone. Raises InvalidConfig for a version that is not there."""
    wanted, references = _wanted(config)
    if not references:
        return config, ()
    try:
        found = [resolve(tx, each) for each in references]
    except (NotFound, InvalidInput) as problem:
        raise InvalidConfig([f"config: data.dataset: {problem}"]) from problem
    exact = [each.reference for each in found]
    data = config["data"]
    assert isinstance(data, dict)
    named = {**data, "dataset": exact[0] if isinstance(wanted, str) else exact}
    return {**config, "data": named}, tuple(dict.fromkeys(each.id for each in found))


# ---------------------------------------------------------------------------------------------------------- change


def describe_dataset(platform: Platform, name: str, version: str, description: str) -> DatasetVersion:
    with flow(platform) as current:
        dataset = find_dataset(current.tx, name, version)
        return current.change(dataset, replace(dataset, description=description))


def delete_dataset(platform: Platform, name: str, version: str, *, force: bool = False) -> None:
    """Forget a version; its files stay. Its number is not given again."""
    with flow(platform) as current:
        tx = current.tx
        dataset = find_dataset(tx, name, version)
        experiments, children = tx.datasets.experiments(dataset.id), tx.datasets.children(dataset.id)
        if (experiments or children) and not force:
            users = [f"experiment {each}" for each in experiments] + [f"dataset {each.reference}" for each in children]
            shown = ", ".join(users[:10]) + (f" and {len(users) - 10} more" if len(users) > 10 else "")
            raise IllegalTransition(
                f"Dataset {dataset.reference} was used by {shown}. Delete it with force if you must."
            )
        current.remove(dataset)


def link_dataset(platform: Platform, experiment_id: int, reference: str) -> DatasetVersion:
    """The experiment used it. Repeating changes nothing."""
    with flow(platform) as current:
        current.tx.experiments.get(experiment_id)
        dataset = resolve(current.tx, reference)
        current.tx.datasets.link(experiment_id, dataset.id)
        current.publish("datasets", f"experiment/{experiment_id}")
    return dataset


# ----------------------------------------------------------------------------------------------------------- files


def read_file(platform: Platform, dataset: DatasetVersion, file: DatasetFile) -> bytes:
    """Its bytes as they were registered. Raises NotFound when they are gone or have changed since."""
    content = platform.dataset_files(dataset.uri).read(file.path, size=file.size)
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise NotFound(
            f"{file.path} of dataset {dataset.reference} is not what was registered: its sha256 differs. "
            "Register the set as a new version."
        )
    return content
