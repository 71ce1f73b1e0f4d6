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
    raise NotFound(f"model not found: {name_or_id}. `resolute model list` shows those there are.")


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
    name, now = checked_model_name(name), platform.clock()
    with platform.store.write() as tx:
        model = Model(
            id=0,
            name=name,
            user_id=user.id,
            workspace_id=_open_workspace(tx, place).id,
            creation_time=now,
            last_updated_time=now,
            description=description,
            notes=notes,
            labels=_each_once(labels),
            metadata=metadata or {},
        )
        model = tx.models.add(model)
    platform.bus.publish("models")
    return model


def change_model(platform: Platform, name_or_id: str, changes: dict[str, Any], *, place: Place = Place()) -> Model:
    """`changes`: those of name, description, notes, labels and metadata that are to be replaced."""
    with platform.store.write() as tx:
        model = _unarchived(find_model(tx, name_or_id))
        if "name" in changes:
            changes = {**changes, "name": checked_model_name(changes["name"])}
        if "labels" in changes:
            changes = {**changes, "labels": _each_once(changes["labels"])}
        if place.is_given:
            changes = {**changes, "workspace_id": _open_workspace(tx, place).id}
        model = replace(model, **changes, last_updated_time=platform.clock())
        tx.models.save(model)
    platform.bus.publish("models")
    return model


def archive_model(platform: Platform, name_or_id: str, *, archived: bool) -> None:
    with platform.store.write() as tx:
        model = find_model(tx, name_or_id)
        tx.models.save(replace(model, archived=archived, last_updated_time=platform.clock()))
    platform.bus.publish("models")


def delete_model(platform: Platform, name_or_id: str) -> None:
    """With its versions; their checkpoints stay."""
    with platform.store.write() as tx:
        model = find_model(tx, name_or_id)
        for version in tx.models.versions(model.id):
            _refuse_served(tx, model, version)
        tx.models.remove(model.id)
    platform.bus.publish("models")


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
    now = platform.clock()
    with platform.store.write() as tx:
        model = _unarchived(find_model(tx, name_or_id))
        _require_whole(tx, checkpoint_uuid)
        version = tx.models.add_version(
            ModelVersion(
                id=0,
                model_id=model.id,
                version=0,
                checkpoint_uuid=checkpoint_uuid,
                user_id=user.id,
                creation_time=now,
                last_updated_time=now,
                name=name,
                comment=comment,
                notes=notes,
                labels=_each_once(labels),
                metadata=metadata or {},
            )
        )
        _touch(tx, model.id, platform)
    platform.bus.publish("models")
    return version


def change_version(platform: Platform, name_or_id: str, number: int, changes: dict[str, Any]) -> ModelVersion:
    """`changes`: those of name, comment, notes, labels, metadata and stage that are to be replaced.
    A version that goes into production retires the one that was there."""
    now = platform.clock()
    with platform.store.write() as tx:
        model = _unarchived(find_model(tx, name_or_id))
        version = tx.models.version(model.id, number)
        if "labels" in changes:
            changes = {**changes, "labels": _each_once(changes["labels"])}
        if changes.get("stage") is Stage.PRODUCTION:
            _retire_others(tx, version, platform)
        version = replace(version, **changes, last_updated_time=now)
        tx.models.save_version(version)
        _touch(tx, model.id, platform)
    platform.bus.publish("models")
    return version


def delete_version(platform: Platform, name_or_id: str, number: int) -> None:
    """The checkpoint stays."""
    with platform.store.write() as tx:
        model = find_model(tx, name_or_id)
        version = tx.models.version(model.id, number)
        _refuse_served(tx, model, version)
        tx.models.remove_version(version.id)
        _touch(tx, model.id, platform)
    platform.bus.publish("models")


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
    if workspace.is_archived:
        raise IllegalTransition(f"Workspace {workspace.name!r} is archived. Unarchive it first.")
    return workspace


def _refuse_served(tx: Transaction, model: Model, version: ModelVersion) -> None:
    live = [each for each in tx.deployments.of_model_version(version.id) if each.state not in _ENDED]
    if live:
        names = ", ".join(sorted({tx.deployments.get(each.deployment_id).name for each in live}))
        raise IllegalTransition(
            f"Version {version.version} of model {model.name!r} is served by: {names}. Undeploy it there first."
        )


def _retire_others(tx: Transaction, promoted: ModelVersion, platform: Platform) -> None:
    for version in tx.models.versions(promoted.model_id):
        if version.stage is Stage.PRODUCTION and version.id != promoted.id:
            retired = replace(version, stage=Stage.RETIRED, last_updated_time=platform.clock())
            tx.models.save_version(retired)


def _touch(tx: Transaction, model_id: int, platform: Platform) -> None:
    tx.models.save(replace(tx.models.get(model_id), last_updated_time=platform.clock()))


def _each_once(labels: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label.strip() for label in labels if label.strip()))
