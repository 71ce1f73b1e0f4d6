"""The model registry: models by name or id, and versions that each are one checkpoint."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from resolute.client.checkpoint import Checkpoint, DownloadMode
from resolute.client.resource import Resource
from resolute.client.session import Session
from resolute.domain.errors import NotFound

Json = dict[str, Any]


class ModelVersion(Resource):
    @property
    def version(self) -> int:
        return int(self.data["version"])

    @property
    def model_name(self) -> str:
        return str(self.data["model"]["name"])

    @property
    def checkpoint(self) -> Checkpoint:
        return Checkpoint(self.session, self.data["checkpoint"])

    @property
    def stage(self) -> str:
        """NONE, STAGING, PRODUCTION or RETIRED."""
        return str(self.data.get("stage") or "NONE")

    @property
    def name(self) -> str:
        return str(self.data.get("name") or "")

    @property
    def labels(self) -> list[str]:
        return list(self.data.get("labels") or [])

    @property
    def metadata(self) -> Json:
        return dict(self.data.get("metadata") or {})

    def reload(self) -> "ModelVersion":
        self.data = self.session.get(self._path)["modelVersion"]
        return self

    def set_stage(self, stage: str) -> "ModelVersion":
        """PRODUCTION retires the version that was in production."""
        return self.update(stage=stage.upper())

    def update(self, **changes: Any) -> "ModelVersion":
        """Replace name, comment, notes, labels, metadata or stage."""
        self.data = self.session.patch(self._path, changes)["modelVersion"]
        return self

    def download(self, path: Path | str | None = None, *, mode: DownloadMode = "auto") -> Path:
        """The files of its checkpoint; see `Checkpoint.download`."""
        return self.checkpoint.download(path, mode=mode)

    def delete(self) -> None:
        """The checkpoint stays."""
        self.session.delete(self._path)

    @property
    def _path(self) -> str:
        return f"{_path(str(self.data['model']['id']))}/versions/{self.version}"


class Model(Resource):
    @property
    def id(self) -> int:
        return int(self.data["id"])

    @property
    def name(self) -> str:
        return str(self.data["name"])

    @property
    def description(self) -> str:
        return str(self.data.get("description") or "")

    @property
    def labels(self) -> list[str]:
        return list(self.data.get("labels") or [])

    @property
    def metadata(self) -> Json:
        return dict(self.data.get("metadata") or {})

    @property
    def is_archived(self) -> bool:
        return bool(self.data.get("archived"))

    def reload(self) -> "Model":
        self.data = self.session.get(self._path)["model"]
        return self

    def register_version(self, checkpoint: Checkpoint | str, **given: Any) -> ModelVersion:
        """A whole checkpoint, or its uuid, becomes the next version. `given`: name, comment, notes, labels ..."""
        uuid = checkpoint if isinstance(checkpoint, str) else checkpoint.uuid
        body = {"modelName": self.name, "checkpointUuid": uuid, **given}
        return ModelVersion(self.session, self.session.post(f"{self._path}/versions", body)["modelVersion"])

    def versions(self) -> list[ModelVersion]:
        """Newest first."""
        found = self.session.pages(f"{self._path}/versions", "modelVersions", orderBy="ORDER_BY_DESC")
        return [ModelVersion(self.session, item) for item in found]

    def version(self, number: int | None = None) -> ModelVersion:
        """None: the newest. Raises NotFound."""
        if number is not None:
            return ModelVersion(self.session, self.session.get(f"{self._path}/versions/{number}")["modelVersion"])
        newest = self.session.get(f"{self._path}/versions", orderBy="ORDER_BY_DESC", limit=1)["modelVersions"]
        if not newest:
            raise NotFound(f"Model {self.name!r} has no version yet. Register one: resolute model register-version")
        return ModelVersion(self.session, newest[0])

    def in_production(self) -> ModelVersion | None:
        return next((version for version in self.versions() if version.stage == "PRODUCTION"), None)

    def update(self, **changes: Any) -> "Model":
        """Replace name, description, notes, labels, metadata or workspaceName."""
        self.data = self.session.patch(self._path, changes)["model"]
        return self

    def archive(self) -> None:
        self.session.post(f"{self._path}/archive")

    def unarchive(self) -> None:
        self.session.post(f"{self._path}/unarchive")

    def delete(self) -> None:
        """With its versions; checkpoints stay."""
        self.session.delete(self._path)

    @property
    def _path(self) -> str:
        return _path(str(self.id))


class Models:
    def __init__(self, session: Session) -> None:
        self._session = session

    def create(
        self,
        name: str,
        *,
        description: str = "",
        notes: str = "",
        labels: Sequence[str] = (),
        metadata: Json | None = None,
        workspace: str | None = None,
    ) -> Model:
        body = {
            "name": name,
            "description": description,
            "notes": notes,
            "labels": list(labels),
            "metadata": metadata or {},
            "workspaceName": workspace,
        }
        return Model(self._session, self._session.post("/api/v1/models", body)["model"])

    def get(self, name: str | int) -> Model:
        """By its name, or by its number."""
        return Model(self._session, self._session.get(_path(str(name)))["model"])

    def list(self, **filters: Any) -> Iterator[Model]:
        """`filters` as the API spells them: name, labels, archived, users, workspaceNames, sortBy, orderBy ..."""
        for item in self._session.pages("/api/v1/models", "models", **filters):
            yield Model(self._session, item)

    def register_version(self, model: str | int, checkpoint: Checkpoint | str, **given: Any) -> ModelVersion:
        """See `Model.register_version`."""
        return self.get(model).register_version(checkpoint, **given)


def _path(name: str) -> str:
    return f"/api/v1/models/{quote(name, safe='')}"
