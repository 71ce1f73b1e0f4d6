"""Dataset versions: registered from a folder on this machine, found as `name:version`."""

import base64
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from resolute import imagery
from resolute.client.display import card
from resolute.client.resource import Resource
from resolute.client.session import Session

Json = dict[str, Any]


class DatasetVersion(Resource):
    @property
    def name(self) -> str:
        return str(self.data["name"])

    @property
    def version(self) -> int:
        return int(self.data["version"])

    @property
    def reference(self) -> str:
        """`name:version`, as configurations name it."""
        return f"{self.name}:{self.version}"

    @property
    def content_hash(self) -> str:
        return str(self.data["contentHash"])

    @property
    def uri(self) -> str:
        """Where the files are."""
        return str(self.data["uri"])

    @property
    def annotations(self) -> list[str]:
        """Label files, relative to `uri`."""
        return list(self.data.get("annotations") or [])

    @property
    def images(self) -> list[str]:
        """The image folder of each label file, relative to `uri`."""
        return list(self.data.get("images") or [])

    @property
    def classes(self) -> dict[int, str]:
        return {int(each["id"]): str(each["name"]) for each in self.data.get("classes") or []}

    @property
    def parents(self) -> list[str]:
        return list(self.data.get("parents") or [])

    @property
    def statistics(self) -> Json:
        return dict(self.data.get("statistics") or {})

    def _repr_html_(self) -> str:
        facts = {"classes": list(self.classes.values()), "labels": self.annotations, "made from": self.parents}
        return card(f"Dataset {self.reference}", {**facts, "where": self.uri})

    @property
    def file_count(self) -> int:
        return int(self.data.get("fileCount") or 0)

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.data.get("size") or 0)

    @property
    def created_at(self) -> datetime | None:
        return self._time("createdAt")

    def files(self) -> Iterator[Json]:
        """Path, size and sha256 of every file, by path."""
        for item in self.session.pages(f"{self._path}/files", "files", page=5000):
            yield {**item, "size": int(item["size"])}

    def labelled_images(self, *, category_id: int | None = None, annotation_index: int = 0) -> Iterator[Json]:
        """Images of one label file with their boxes, as the master reads them."""
        query: dict[str, Any] = {"categoryId": category_id, "annotationIndex": annotation_index}
        yield from self.session.pages(f"{self._path}/images", "images", **query)

    def experiments(self) -> list[int]:
        """Ids of the experiments that used it, newest first."""
        return list(self.session.get(self._path)["experimentIds"])

    def describe(self, text: str) -> None:
        self.data = self.session.patch(self._path, {"description": text})["dataset"]

    def delete(self, *, force: bool = False) -> None:
        """Forget the version; files stay. One that was used goes with `force` only."""
        self.session.call("DELETE", self._path, query={"force": force})

    @property
    def _path(self) -> str:
        return _path(self.name, str(self.version))


class Datasets:
    def __init__(self, session: Session) -> None:
        self._session = session

    def create(
        self,
        name: str,
        folder: Path | str,
        *,
        annotations: Sequence[str] = (),
        images: Sequence[str] = (),
        parents: Sequence[str] = (),
        description: str = "",
        uri: str | None = None,
        workspace_id: int = 1,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> DatasetVersion:
        """Register what a folder of COCO labels and images holds; `is_new` in its `data` tells a version from before.

        `uri` says where the master finds the same files, if not in that folder (after `resolute data push`).
        """
        found = imagery.describe_set(Path(folder), annotations=annotations, images=images, on_progress=on_progress)
        body = {
            "name": name,
            "uri": uri or str(found.root),
            "manifest": base64.b64encode(found.packed_manifest).decode(),
            "annotations": list(found.annotations),
            "images": list(found.images),
            "classes": [{"id": each.id, "name": each.name} for each in found.classes],
            "statistics": found.statistics,
            "parents": list(parents),
            "description": description,
            "workspaceId": workspace_id,
        }
        answer = self._session.post("/api/v1/datasets", body)
        return DatasetVersion(self._session, {**answer["dataset"], "isNew": answer["isNew"]})

    def get(self, reference: str) -> DatasetVersion:
        """`name:3`, `name:latest` or `name`."""
        name, _, version = reference.partition(":")
        return DatasetVersion(self._session, self._session.get(_path(name, version or "latest"))["dataset"])

    def list(self, *, name: str | None = None, workspace_id: int | None = None) -> Iterator[DatasetVersion]:
        """All versions, newest first."""
        for item in self._session.pages("/api/v1/datasets", "datasets", name=name, workspaceId=workspace_id):
            yield DatasetVersion(self._session, item)


def _path(name: str, version: str) -> str:
    return f"/api/v1/datasets/{quote(name, safe='')}/{quote(version, safe='')}"
