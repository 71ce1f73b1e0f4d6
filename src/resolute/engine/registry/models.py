"""The model registry: names that people use, with numbered versions that each are one checkpoint.

A version keeps its checkpoint from being collected or deleted; nothing here touches files.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from resolute.domain.checkpoint import CheckpointState
from resolute.domain.deployment import RevisionState
from resolute.domain.errors import IllegalTransition, InvalidInput, NotFound
from resolute.domain.model import Model, ModelVersion, Stage
from resolute.domain.user import User
from resolute.domain.workspace import Workspace
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.unit_of_work import Flow, flow

_ENDED = frozenset({RevisionState.RETIRED, RevisionState.FAILED})
_LONGEST_NAME = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A workspace by id or by name; neither: the place for uncategorised work."""

    workspace_id: int | None = None
    workspace_name: str | None = None

    @property
    def is_given(self) -> bool:
        return bool(self.workspace_id or self.workspace_name)


# ---------------------------------------------------------------------------------------------------------- models


def find_model(tx: Transaction, name_or_id: str) -> Model:
    """By name, or by number: no name is a number. Raises NotFound."""
    model = tx.models.by_name(name_or_id)
    if model is not None:
        return model
    if name_or_id.isascii() and name_or_id.isdecimal():
        return tx.models.get(int(name_or_id))
    raise NotFound(f"model not found: {name_or_id}. `resolute model list` lists them.")


def create_model(
    platform: Platform,
    *,
    user: User,
    name: str,
    description: str = "",
    notes: str = "",
    labels: Iterable[str] = (),
    metadata: dict[str, Any] | None = None,
    place: Place = Place(),
) -> Model:
    name = checked_model_name(name)
    with flow(platform) as current:
        return current.add(
            Model(
                id=0,
                name=name,
                user_id=user.id,
                workspace_id=_open_workspace(current.tx, place).id,
                creation_time=current.now,
                last_updated_time=current.now,
                description=description,
                notes=notes,
                labels=_each_once(labels),
                metadata=metadata or {},
            )
        )


def change_model(platform: Platform, name_or_id: str, changes: dict[str, Any], *, place: Place = Place()) -> Model:
    """`changes`: those of name, description, notes, labels and metadata that are to be replaced."""
    with flow(platform) as current:
        model = _unarchived(find_model(current.tx, name_or_id))
        if "name" in changes:
            changes = {**changes, "name": checked_model_name(changes["name"])}
        if "labels" in changes:
            changes = {**changes, "labels": _each_once(changes["labels"])}
        if place.is_given:
            changes = {**changes, "workspace_id": _open_workspace(current.tx, place).id}
        return current.change(model, replace(model, **changes, last_updated_time=current.now))


def archive_model(platform: Platform, name_or_id: str, *, archived: bool) -> None:
    with flow(platform) as current:
        model = find_model(current.tx, name_or_id)
        current.change(model, replace(model, archived=archived, last_updated_time=current.now))


def delete_model(platform: Platform, name_or_id: str) -> None:
    """With its versions; their checkpoints stay."""
    with flow(platform) as current:
        tx = current.tx
        model = find_model(tx, name_or_id)
        for version in tx.models.versions(model.id):
            _refuse_served(tx, model, version)
        current.remove(model)


# -------------------------------------------------------------------------------------------------------- versions


def register_version(
    platform: Platform,
    name_or_id: str,
    *,
    user: User,
    checkpoint_uuid: str,
    name: str = "",
    comment: str = "",
    notes: str = "",
    labels: Iterable[str] = (),
    metadata: dict[str, Any] | None = None,
) -> ModelVersion:
    """A whole checkpoint becomes the next version."""
    with flow(platform) as current:
        model = _unarchived(find_model(current.tx, name_or_id))
        _require_whole(current.tx, checkpoint_uuid)
        version = current.add(
            ModelVersion(
                id=0,
                model_id=model.id,
                version=0,
                checkpoint_uuid=checkpoint_uuid,
                user_id=user.id,
                creation_time=current.now,
                last_updated_time=current.now,
                name=name,
                comment=comment,
                notes=notes,
                labels=_each_once(labels),
                metadata=metadata or {},
            )
        )
        _touch(current, model.id)
    return version


def change_version(platform: Platform, name_or_id: str, number: int, changes: dict[str, Any]) -> ModelVersion:
    """`changes`: those of name, comment, notes, labels, metadata and stage that are to be replaced.
    A version that goes into production retires the one that was there."""
    with flow(platform) as current:
        model = _unarchived(find_model(current.tx, name_or_id))
        version = current.tx.models.version(model.id, number)
        if "labels" in changes:
            changes = {**changes, "labels": _each_once(changes["labels"])}
        if changes.get("stage") is Stage.PRODUCTION:
            _retire_others(current, version)
        version = current.move(version, replace(version, **changes, last_updated_time=current.now))
        _touch(current, model.id)
    return version


def delete_version(platform: Platform, name_or_id: str, number: int) -> None:
    """The checkpoint stays."""
    with flow(platform) as current:
        tx = current.tx
        model = find_model(tx, name_or_id)
        version = tx.models.version(model.id, number)
        _refuse_served(tx, model, version)
        current.remove(version)
        _touch(current, model.id)


def names_of_versions(tx: Transaction, uuids: Iterable[str]) -> list[str]:
    """`<model>/<version>` of every version that holds one of these checkpoints."""
    found = tx.models.versions_of_checkpoints(uuids)
    names = {model_id: tx.models.get(model_id).name for model_id in {version.model_id for version in found}}
    return [f"{names[version.model_id]}/{version.version}" for version in found]


# ---------------------------------------------------------------------------------------------------------- checks


def checked_model_name(name: str) -> str:
    name = name.strip()
    if not name:
        raise InvalidInput("A model needs a name; this one is empty. Give it one, such as ship-detector.")
    if len(name) > _LONGEST_NAME:
        raise InvalidInput(f"The model name {name[:40]!r}... has {len(name)} characters; use at most {_LONGEST_NAME}.")
    if name.isdecimal():
        raise InvalidInput(f"A model cannot be called {name!r}: a number means the id of a model. Add a letter.")
    if "/" in name or "\\" in name:
        raise InvalidInput(f"The model name {name!r} has a slash, which separates name and version. Leave it out.")
    if re.search(r"\s\s|[\x00-\x1f\x7f]", name):
        raise InvalidInput(f"The model name {name!r} has control characters or several spaces in a row. Remove them.")
    return name


def _unarchived(model: Model) -> Model:
    if model.archived:
        raise IllegalTransition(
            f"Model {model.name!r} is archived and cannot be changed. `resolute model unarchive` brings it back."
        )
    return model


def _require_whole(tx: Transaction, uuid: str) -> None:
    checkpoint = tx.checkpoints.get(uuid)
    if checkpoint.state is not CheckpointState.COMPLETED:
        raise IllegalTransition(
            f"Checkpoint {uuid} is {checkpoint.state}; only a COMPLETED one can be registered as a model version."
        )


def _open_workspace(tx: Transaction, place: Place) -> Workspace:
    if place.workspace_name:
        workspace = tx.workspaces.by_name(place.workspace_name)
        if workspace is None:
            known = ", ".join(sorted(w.name for w in tx.workspaces.all()))
            raise NotFound(f"workspace not found: {place.workspace_name!r}. There are: {known}.")
    else:
        workspace = tx.workspaces.get(place.workspace_id or 1)
    workspace.require_open()
    return workspace


def _refuse_served(tx: Transaction, model: Model, version: ModelVersion) -> None:
    live = [each for each in tx.deployments.of_model_version(version.id) if each.state not in _ENDED]
    if live:
        names = ", ".join(sorted({tx.deployments.get(each.deployment_id).name for each in live}))
        raise IllegalTransition(
            f"Version {version.version} of model {model.name!r} is served by: {names}. Undeploy it there first."
        )


def _retire_others(current: Flow, promoted: ModelVersion) -> None:
    for version in current.tx.models.versions(promoted.model_id):
        if version.stage is Stage.PRODUCTION and version.id != promoted.id:
            retired = version.moved_to(Stage.RETIRED, now=current.now)
            current.move(version, retired, reason=f"Version {promoted.version} went into production.")


def _touch(current: Flow, model_id: int) -> None:
    current.tx.models.save(replace(current.tx.models.get(model_id), last_updated_time=current.now))


def _each_once(labels: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label.strip() for label in labels if label.strip()))
