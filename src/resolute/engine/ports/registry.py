"""Ports of the database for datasets, registered models and deployments: Protocols and their promises."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from resolute.domain.dataset import DatasetVersion
from resolute.domain.deployment import Deployment, Revision, RevisionState
from resolute.domain.model import Model, ModelVersion, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuery:
    """Every filter that is set must match. `sort_by`: name, description, creation_time, last_updated_time,
    num_versions, workspace, id."""

    id: int | None = None
    name_contains: str = ""
    description_contains: str = ""
    labels: tuple[str, ...] = ()
    archived: bool | None = None
    users: tuple[str, ...] = ()
    user_ids: tuple[int, ...] = ()
    workspace_ids: tuple[int, ...] = ()
    workspace_names: tuple[str, ...] = ()
    visible_in: frozenset[int] | None = None
    """Workspaces that the caller may see; None: all."""
    sort_by: str = "id"
    descending: bool = False
    offset: int = 0
    limit: int | None = None


class Models(Protocol):
    def add(self, model: Model) -> Model:
        """The id comes back. Raises AlreadyExists for a taken name."""

    def get(self, model_id: int) -> Model:
        """Raises NotFound("model not found: 7")."""

    def by_name(self, name: str) -> Model | None: ...
    def save(self, model: Model) -> None:
        """Raises AlreadyExists when the new name is taken."""

    def remove(self, model_id: int) -> None:
        """With its versions."""

    def search(self, query: ModelQuery) -> tuple[list[Model], int]:
        """One page, and how many there are in all."""

    def version_counts(self, model_ids: Iterable[int]) -> dict[int, int]: ...
    def labels(self, workspace_id: int | None = None, *, visible_in: frozenset[int] | None = None) -> list[str]:
        """Most used first."""

    def add_version(self, version: ModelVersion) -> ModelVersion:
        """Gives it the next number of its model (`version` 0 comes in) and an id."""

    def version(self, model_id: int, number: int) -> ModelVersion:
        """Raises NotFound."""

    def version_by_id(self, version_id: int) -> ModelVersion:
        """Raises NotFound."""

    def save_version(self, version: ModelVersion, *, expected: Stage | None = None) -> bool:
        """Write all fields if the stored stage is still `expected`. False: another writer was first.
        With None, whatever it is; raises NotFound when it is gone."""

    def remove_version(self, version_id: int) -> None: ...
    def versions(self, model_id: int) -> list[ModelVersion]:
        """Newest first."""

    def versions_of_checkpoints(self, uuids: Iterable[str]) -> list[ModelVersion]: ...


class Datasets(Protocol):
    def add(self, dataset: DatasetVersion) -> DatasetVersion:
        """Gives it the next number of its name (`version` 0 comes in) and an id. A version of the same name with the
        same content hash is returned instead of stored again."""

    def get(self, dataset_id: int) -> DatasetVersion:
        """Raises NotFound."""

    def find(self, name: str, version: int | None = None) -> DatasetVersion | None:
        """`version` None: the newest."""

    def save(self, dataset: DatasetVersion) -> None: ...
    def remove(self, dataset_id: int) -> None: ...
    def search(
        self, *, name_contains: str = "", workspace_id: int | None = None, visible_in: frozenset[int] | None = None
    ) -> list[DatasetVersion]:
        """All versions, newest first."""

    def link(self, experiment_id: int, dataset_id: int) -> None:
        """The experiment used it. Repeating changes nothing."""

    def of_experiment(self, experiment_id: int) -> list[DatasetVersion]: ...
    def experiments(self, dataset_id: int) -> list[int]:
        """Ids, newest first."""

    def children(self, dataset_id: int) -> list[DatasetVersion]:
        """Versions that name it as a parent."""


class DatasetFiles(Protocol):
    """The files of one dataset where they are; for reading only."""

    def read(self, path: str, *, size: int) -> bytes:
        """All of it. Raises NotFound when it is not there or has not `size` bytes, Unavailable when the store is
        away."""


DatasetStores = Callable[[str], DatasetFiles]
"""Opens the place that a dataset's `uri` names. Raises InvalidInput for an address of no kind that it knows."""


class Deployments(Protocol):
    def add(self, deployment: Deployment) -> Deployment:
        """The id comes back. Raises AlreadyExists for a taken (namespace, name)."""

    def get(self, deployment_id: int) -> Deployment:
        """Raises NotFound."""

    def find(self, name: str, namespace: str = "default") -> Deployment | None: ...
    def save(self, deployment: Deployment) -> None: ...
    def remove(self, deployment_id: int) -> None:
        """With its revisions."""

    def all(self, *, visible_in: frozenset[int] | None = None) -> list[Deployment]:
        """Oldest first."""

    def add_revision(self, revision: Revision) -> Revision:
        """Gives it the next number of its deployment (`number` 0 comes in) and an id."""

    def save_revision(self, revision: Revision, *, expected: RevisionState | None = None) -> bool:
        """As Models.save_version, by its state."""

    def revisions(self, deployment_id: int) -> list[Revision]:
        """Newest first."""

    def of_model_version(self, model_version_id: int) -> list[Revision]: ...
    def of_checkpoints(self, uuids: Iterable[str]) -> list[Revision]:
        """Revisions that are not RETIRED or FAILED and serve one of these checkpoints."""
