"""Dataset versions: registered by their manifest, looked into, linked to experiments. Named `{name}/{version}`."""

import base64
import mimetypes
from collections.abc import Sequence
from itertools import islice
from typing import Annotated

from fastapi import Query, Response

from resolute.domain.dataset import DatasetClass, DatasetVersion
from resolute.domain.errors import InvalidInput, NotFound
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import Page
from resolute.engine.registry import datasets as engine
from resolute.server.auth import Caller, PlatformOf
from resolute.server.paging import PageParams, Paging, pagination
from resolute.server.resource import Resource
from resolute.server.shapes.datasets import dataset_message, file_message, image_message
from resolute.server.state import StateOf
from resolute.server.thumbnails import thumbnail
from resolute.spec.wire import datasets as wire
from resolute.spec.wire.base import Empty

router = Resource(tags=["datasets"])

_VERSION = "/api/v1/datasets/{name}/{version}"
_MAX_PAGE = 500
_SHOWN = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp", "image/tiff"})
"""Kinds that a browser is told about. The rest is a download: a page among the files must not run as one of ours."""


# ------------------------------------------------------------------------------------------------------------ look


@router.get("/api/v1/datasets")
def get_datasets(
    platform: PlatformOf,
    page: Paging,
    name: str = "",
    workspace_id: Annotated[int | None, Query(alias="workspaceId")] = None,
) -> wire.GetDatasetsResponse:
    """All versions, newest first. `name` matches by a part, whatever the case."""
    with platform.store.read() as tx:
        cut = page.cut(tx.datasets.search(name_contains=name, workspace_id=workspace_id or None))
        return wire.GetDatasetsResponse(datasets=_messages(tx, cut.items), pagination=pagination(cut, page))


@router.get("/api/v1/datasets/{name}")
def get_dataset_versions(name: str, platform: PlatformOf) -> wire.GetDatasetVersionsResponse:
    """Newest first."""
    with platform.store.read() as tx:
        engine.find_dataset(tx, name)
        versions = [each for each in tx.datasets.search(name_contains=name) if each.name == name]
        return wire.GetDatasetVersionsResponse(name=name, versions=_messages(tx, versions))


@router.get(_VERSION)
def get_dataset(name: str, version: str, platform: PlatformOf) -> wire.DatasetResponse:
    """`version` is a number, or `latest`."""
    with platform.store.read() as tx:
        return _shown(tx, engine.find_dataset(tx, name, version))


@router.get(_VERSION + "/files")
def get_dataset_files(
    name: str, version: str, platform: PlatformOf, state: StateOf, page: Paging
) -> wire.GetDatasetFilesResponse:
    """The manifest, by path."""
    files = state.datasets.manifest(platform, _find(platform, name, version))
    start, end = _window(page, len(files), at_most=None)
    cut = Page([file_message(file) for file in islice(files.values(), start, end)], len(files), start)
    return wire.GetDatasetFilesResponse(files=cut.items, pagination=pagination(cut, page))


@router.get(_VERSION + "/images")
def get_dataset_images(
    name: str,
    version: str,
    platform: PlatformOf,
    state: StateOf,
    page: Paging,
    category_id: Annotated[int | None, Query(alias="categoryId")] = None,
    annotation_index: Annotated[int, Query(alias="annotationIndex")] = 0,
) -> wire.GetDatasetImagesResponse:
    """Images of one label file with their boxes, at most 500 at once. With a category: images that have one of it."""
    dataset = _find(platform, name, version)
    labels = state.datasets.labels(platform, dataset, annotation_index)
    images = labels.with_category(category_id)
    start, end = _window(page, len(images), at_most=_MAX_PAGE)
    folder = dataset.images[annotation_index]
    messages = [image_message(image, labels.of_image[image.id], folder=folder) for image in images[start:end]]
    answer = pagination(Page(messages, len(images), start), page)
    return wire.GetDatasetImagesResponse(images=messages, pagination=answer)


def _window(page: PageParams, total: int, *, at_most: int | None) -> tuple[int, int]:
    cut = page.cut(list(range(total)))
    count = len(cut.items) if at_most is None else min(len(cut.items), at_most)
    return cut.offset, cut.offset + count


@router.get(
    _VERSION + "/images/content",
    responses={200: {"content": {"image/jpeg": {}, "application/octet-stream": {}}}},
)
def get_dataset_image_content(
    name: str,
    version: str,
    path: str,
    platform: PlatformOf,
    state: StateOf,
    max_size: Annotated[int | None, Query(alias="maxSize")] = None,
) -> Response:
    """A file of the manifest as it was registered, or a JPEG of it with at most `maxSize` pixels a side."""
    dataset = _find(platform, name, version)
    file = state.datasets.file(platform, dataset, path)
    content = engine.read_file(platform, dataset, file)
    headers = {
        "ETag": f'"{file.sha256}{f"-{max_size}" if max_size else ""}"',
        "Cache-Control": "private, max-age=86400",
        "X-Content-Type-Options": "nosniff",
    }
    if max_size is not None:
        small = thumbnail(content, max_size, place=f"{path} of dataset {dataset.reference}")
        return Response(small, media_type="image/jpeg", headers=headers)
    kind = mimetypes.guess_type(path)[0]
    if kind in _SHOWN:
        return Response(content, media_type=kind, headers=headers)
    headers["Content-Disposition"] = "attachment"
    return Response(content, media_type="application/octet-stream", headers=headers)


# ---------------------------------------------------------------------------------------------------------- change


@router.post("/api/v1/datasets")
def post_dataset(body: wire.PostDatasetRequest, platform: PlatformOf, caller: Caller) -> wire.PostDatasetResponse:
    """Register a version. The same content under the same name is answered with the version it has."""
    given = engine.NewDataset(
        name=body.name,
        uri=body.uri,
        packed_manifest=_decoded(body.manifest),
        annotations=tuple(body.annotations),
        images=tuple(body.images),
        classes=tuple(DatasetClass(each.id, each.name) for each in body.classes),
        parents=tuple(body.parents),
        statistics=body.statistics,
        description=body.description,
        workspace_id=body.workspace_id or 1,
    )
    dataset, is_new = engine.register_dataset(platform, given, user=caller.user)
    with platform.store.read() as tx:
        return wire.PostDatasetResponse(dataset=_messages(tx, [dataset])[0], is_new=is_new)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as problem:
        raise InvalidInput(f"manifest: it is not base64: {problem}. Send base64 of gzip of JSON lines.") from problem


@router.patch(_VERSION)
def patch_dataset(name: str, version: str, body: wire.PatchDataset, platform: PlatformOf) -> wire.DatasetResponse:
    """Its description; the rest of a version never changes."""
    if body.description is not None:
        engine.describe_dataset(platform, name, version, body.description)
    with platform.store.read() as tx:
        return _shown(tx, engine.find_dataset(tx, name, version))


@router.delete(_VERSION)
def delete_dataset(name: str, version: str, platform: PlatformOf, caller: Caller, force: bool = False) -> Empty:
    """Forget a version; files stay. Refused while an experiment or another version names it, unless forced."""
    engine.delete_dataset(platform, name, version, by=caller.user, force=force)
    return Empty()


# ----------------------------------------------------------------------------------------------------- experiments


@router.get("/api/v1/experiments/{experiment_id}/datasets")
def get_experiment_datasets(experiment_id: int, platform: PlatformOf) -> wire.GetExperimentDatasetsResponse:
    with platform.store.read() as tx:
        tx.experiments.get(experiment_id)
        return wire.GetExperimentDatasetsResponse(datasets=_messages(tx, tx.datasets.of_experiment(experiment_id)))


@router.post("/api/v1/experiments/{experiment_id}/datasets")
def post_experiment_dataset(
    experiment_id: int, body: wire.LinkDatasetRequest, platform: PlatformOf
) -> wire.DatasetResponse:
    """The experiment, or a trial of it, used this version. Repeating changes nothing."""
    dataset = engine.link_dataset(platform, experiment_id, body.dataset)
    with platform.store.read() as tx:
        return _shown(tx, dataset)


# ------------------------------------------------------------------------------------------------------------ show


def _find(platform: Platform, name: str, version: str) -> DatasetVersion:
    with platform.store.read() as tx:
        return engine.find_dataset(tx, name, version)


def _shown(tx: Transaction, dataset: DatasetVersion) -> wire.DatasetResponse:
    return wire.DatasetResponse(
        dataset=_messages(tx, [dataset])[0],
        experiment_ids=tx.datasets.experiments(dataset.id),
        children=[child.reference for child in tx.datasets.children(dataset.id)],
    )


def _messages(tx: Transaction, datasets: Sequence[DatasetVersion]) -> list[wire.Dataset]:
    names = {user_id: tx.users.get(user_id).username for user_id in {each.user_id for each in datasets}}
    parents = {key: _reference(tx, key) for key in {key for each in datasets for key in each.parents}}
    return [
        dataset_message(each, username=names[each.user_id], parents=[parents[key] for key in each.parents])
        for each in datasets
    ]


def _reference(tx: Transaction, dataset_id: int) -> str:
    """A parent that was deleted with force still shows that there was one."""
    try:
        return tx.datasets.get(dataset_id).reference
    except NotFound:
        return f"deleted:{dataset_id}"
