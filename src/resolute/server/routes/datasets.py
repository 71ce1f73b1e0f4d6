"""Dataset versions: registered by their manifest, looked into, linked to experiments. Named `{name}/{version}`."""

import base64
import mimetypes
from collections.abc import Sequence
from itertools import islice
from typing import Annotated

from fastapi import Query, Response

from resolute.domain import needs
from resolute.domain.dataset import DatasetClass, DatasetVersion
from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.rights import Permission
from resolute.engine.access.rights import seen
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import Page
from resolute.engine.registry import datasets as engine
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.paging import PageParams, Paging, pagination
from resolute.server.resource import Resource
from resolute.server.shapes.datasets import dataset_message, file_message, image_message
from resolute.server.state import StateOf
from resolute.server.thumbnails import thumbnail
from resolute.spec.wire import datasets as wire
from resolute.spec.wire.base import Empty

router = Resource(tags=["datasets"])

_VERSION = "/api/v1/datasets/{dataset_name}/{version}"
_MAX_PAGE = 500
_SHOWN = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp", "image/tiff"})
"""Kinds that a browser is told about. The rest is a download: a page among the files must not run as one of ours."""


# ------------------------------------------------------------------------------------------------------------ look


@router.get("/api/v1/datasets", needs=needs.VIEW_DATASET.listed)
def get_datasets(
    platform: PlatformOf,
    caller: Caller,
    page: Paging,
    name: str = "",
    workspace_id: Annotated[int | None, Query(alias="workspaceId")] = None,
) -> wire.GetDatasetsResponse:
    """All versions, newest first. `name` matches by a part, whatever the case."""
    with platform.store.read() as tx:
        visible = caller.workspaces(Permission.VIEW_DATASETS)
        cut = page.cut(tx.datasets.search(name_contains=name, workspace_id=workspace_id or None, visible_in=visible))
        return wire.GetDatasetsResponse(datasets=_messages(tx, cut.items, caller), pagination=pagination(cut, page))


@router.get("/api/v1/datasets/{dataset_name}", needs=needs.VIEW_DATASET.listed)
def get_dataset_versions(dataset_name: str, platform: PlatformOf, caller: Caller) -> wire.GetDatasetVersionsResponse:
    """Newest first."""
    with platform.store.read() as tx:
        visible = caller.workspaces(Permission.VIEW_DATASETS)
        found = tx.datasets.search(name_contains=dataset_name, visible_in=visible)
        versions = [each for each in found if each.name == dataset_name]
        if not versions:
            caller.check(tx, Permission.VIEW_DATASETS, "dataset_name", dataset_name)
            engine.find_dataset(tx, dataset_name)
        return wire.GetDatasetVersionsResponse(name=dataset_name, versions=_messages(tx, versions, caller))


@router.get(_VERSION, needs=needs.VIEW_DATASET.or_any_task)
def get_dataset(dataset_name: str, version: str, platform: PlatformOf, caller: Caller) -> wire.DatasetResponse:
    """`version` is a number, or `latest`."""
    with platform.store.read() as tx:
        return _shown(tx, engine.find_dataset(tx, dataset_name, version), caller)


@router.get(_VERSION + "/files", needs=needs.VIEW_DATASET.or_any_task)
def get_dataset_files(
    dataset_name: str, version: str, platform: PlatformOf, state: StateOf, page: Paging
) -> wire.GetDatasetFilesResponse:
    """The manifest, by path."""
    files = state.datasets.manifest(platform, _find(platform, dataset_name, version))
    start, end = _window(page, len(files), at_most=None)
    cut = Page([file_message(file) for file in islice(files.values(), start, end)], len(files), start)
    return wire.GetDatasetFilesResponse(files=cut.items, pagination=pagination(cut, page))


@router.get(_VERSION + "/images", needs=needs.VIEW_DATASET)
def get_dataset_images(
    dataset_name: str,
    version: str,
    platform: PlatformOf,
    state: StateOf,
    page: Paging,
    category_id: Annotated[int | None, Query(alias="categoryId")] = None,
    annotation_index: Annotated[int, Query(alias="annotationIndex")] = 0,
) -> wire.GetDatasetImagesResponse:
    """Images of one label file with their boxes, at most 500 at once. With a category: images that have one of it."""
    dataset = _find(platform, dataset_name, version)
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
    needs=needs.VIEW_DATASET,
    responses={200: {"content": {"image/jpeg": {}, "application/octet-stream": {}}}},
)
def get_dataset_image_content(
    dataset_name: str,
    version: str,
    path: str,
    platform: PlatformOf,
    state: StateOf,
    max_size: Annotated[int | None, Query(alias="maxSize")] = None,
) -> Response:
    """A file of the manifest as it was registered, or a JPEG of it with at most `maxSize` pixels a side."""
    dataset = _find(platform, dataset_name, version)
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


@router.post("/api/v1/datasets", needs=needs.EDIT_DATASET.in_body)
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
    with platform.store.read() as tx:
        caller.check(tx, Permission.EDIT_DATASETS, "workspace_id", given.workspace_id)
        if tx.datasets.find(given.name) is not None:
            caller.check(tx, Permission.EDIT_DATASETS, "dataset_name", given.name)
        for parent in given.parents:
            _check_seen(tx, caller, parent)
    dataset, is_new = engine.register_dataset(platform, given, user=caller.user)
    with platform.store.read() as tx:
        return wire.PostDatasetResponse(dataset=_messages(tx, [dataset], caller)[0], is_new=is_new)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as problem:
        raise InvalidInput(f"manifest: it is not base64: {problem}. Send base64 of gzip of JSON lines.") from problem


@router.patch(_VERSION, needs=needs.EDIT_DATASET)
def patch_dataset(
    dataset_name: str, version: str, body: wire.PatchDataset, platform: PlatformOf, caller: Caller
) -> wire.DatasetResponse:
    """Its description; the rest of a version never changes."""
    if body.description is not None:
        engine.describe_dataset(platform, dataset_name, version, body.description)
    with platform.store.read() as tx:
        return _shown(tx, engine.find_dataset(tx, dataset_name, version), caller)


@router.delete(_VERSION, needs=needs.DELETE_DATASET)
def delete_dataset(dataset_name: str, version: str, platform: PlatformOf, force: bool = False) -> Empty:
    """Forget a version; files stay. Refused while an experiment or another version names it, unless forced."""
    engine.delete_dataset(platform, dataset_name, version, force=force)
    return Empty()


# ----------------------------------------------------------------------------------------------------- experiments


@router.get("/api/v1/experiments/{experiment_id}/datasets", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_experiment_datasets(
    experiment_id: int, platform: PlatformOf, caller: Caller
) -> wire.GetExperimentDatasetsResponse:
    with platform.store.read() as tx:
        tx.experiments.get(experiment_id)
        found = tx.datasets.of_experiment(experiment_id)
        return wire.GetExperimentDatasetsResponse(datasets=_messages(tx, found, caller))


@router.post("/api/v1/experiments/{experiment_id}/datasets", needs=needs.EDIT_EXPERIMENT.or_own_task)
def post_experiment_dataset(
    experiment_id: int, body: wire.LinkDatasetRequest, platform: PlatformOf, caller: Caller
) -> wire.DatasetResponse:
    """The experiment, or a trial of it, used this version. Repeating changes nothing."""
    with platform.store.read() as tx:
        _check_seen(tx, caller, body.dataset)
    dataset = engine.link_dataset(platform, experiment_id, body.dataset)
    with platform.store.read() as tx:
        return _shown(tx, dataset, caller)


# ------------------------------------------------------------------------------------------------------------ show


def _find(platform: Platform, name: str, version: str) -> DatasetVersion:
    with platform.store.read() as tx:
        return engine.find_dataset(tx, name, version)


def _shown(tx: Transaction, dataset: DatasetVersion, caller: Principal) -> wire.DatasetResponse:
    """With what it was used for, as far as the caller may see that."""
    experiment_ids = tx.datasets.experiments(dataset.id)
    view = Permission.VIEW_EXPERIMENT_METADATA
    return wire.DatasetResponse(
        dataset=_messages(tx, [dataset], caller)[0],
        experiment_ids=seen(tx, caller.rights, view, "experiment_id", experiment_ids),
        children=[child.reference for child in tx.datasets.children(dataset.id) if _is_seen(caller, child)],
    )


def _messages(tx: Transaction, datasets: Sequence[DatasetVersion], caller: Principal) -> list[wire.Dataset]:
    names = {user_id: tx.users.get(user_id).username for user_id in {each.user_id for each in datasets}}
    parents = {key: _reference(tx, key, caller) for key in {key for each in datasets for key in each.parents}}
    return [
        dataset_message(each, username=names[each.user_id], parents=[parents[key] for key in each.parents])
        for each in datasets
    ]


def _reference(tx: Transaction, dataset_id: int, caller: Principal) -> str:
    """A parent that was deleted with force, or may not be seen, still shows that there was one."""
    try:
        parent = tx.datasets.get(dataset_id)
    except NotFound:
        return f"deleted:{dataset_id}"
    return parent.reference if _is_seen(caller, parent) else f"hidden:{dataset_id}"


def _is_seen(caller: Principal, dataset: DatasetVersion) -> bool:
    return caller.lists(Permission.VIEW_DATASETS, dataset.workspace_id)


def _check_seen(tx: Transaction, caller: Principal, reference: str) -> None:
    """Of a dataset that a body names, as `name:3` or `name`."""
    name, _, version = reference.partition(":")
    caller.check(tx, Permission.VIEW_DATASETS, "dataset_name", name, {"version": version})
