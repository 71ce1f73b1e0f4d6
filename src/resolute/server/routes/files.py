"""Files of an uploaded model definition: the tree, and one file."""

import base64
import io
import mimetypes
from collections.abc import Iterator
from typing import IO

from fastapi.responses import Response

from resolute.domain import needs
from resolute.domain.errors import NotFound
from resolute.engine.platform import Platform
from resolute.server.auth import PlatformOf
from resolute.server.resource import Resource
from resolute.spec.context import Member, MemberKind, read_context
from resolute.spec.wire import experiments as wire

router = Resource(tags=["experiments"])


@router.get("/api/v1/experiments/{experiment_id}/file_tree", needs=needs.VIEW_ARTIFACTS.or_own_task)
def get_model_def_tree(experiment_id: int, platform: PlatformOf) -> wire.GetModelDefTreeResponse:
    root = wire.FileNode(path="", name="", is_dir=True)
    folders = {"": root}
    for member, _ in _members(platform, experiment_id):
        path = member.name.strip("/").removeprefix("./")
        is_dir = member.kind is MemberKind.DIRECTORY
        node = folders.get(path) or wire.FileNode(
            path=path,
            name=path.rpartition("/")[2],
            is_dir=is_dir,
            content_length=member.size,
            content_type="" if is_dir else mimetypes.guess_type(path)[0] or "text/plain",
        )
        if path in folders:
            continue
        _folder(folders, path.rpartition("/")[0]).files.append(node)
        if is_dir:
            folders[path] = node
    return wire.GetModelDefTreeResponse(files=root.files)


def _folder(folders: dict[str, wire.FileNode], path: str) -> wire.FileNode:
    """The node of a folder; made when the archive does not list it."""
    if path not in folders:
        folders[path] = wire.FileNode(path=path, name=path.rpartition("/")[2], is_dir=True)
        _folder(folders, path.rpartition("/")[0]).files.append(folders[path])
    return folders[path]


@router.post("/api/v1/experiments/{experiment_id}/file", needs=needs.VIEW_ARTIFACTS)
def get_model_def_file(
    experiment_id: int, body: wire.GetModelDefFileRequest, platform: PlatformOf
) -> wire.GetModelDefFileResponse:
    content = _content(platform, experiment_id, body.path)
    return wire.GetModelDefFileResponse(file=base64.b64encode(content).decode())


@router.get(
    "/experiments/{experiment_id}/file/download",
    needs=needs.VIEW_ARTIFACTS.or_own_task,
    operation_id="DownloadModelDefFile",
)
def download_model_def_file(experiment_id: int, path: str, platform: PlatformOf) -> Response:
    """Always as an attachment: an uploaded page must not run as one of ours."""
    content = _content(platform, experiment_id, path)
    headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type="application/octet-stream", headers=headers)


def _content(platform: Platform, experiment_id: int, path: str) -> bytes:
    wanted = path.strip("/").removeprefix("./")
    for member, reader in _members(platform, experiment_id):
        if member.name.strip("/").removeprefix("./") == wanted and reader is not None:
            return reader.read()
    raise NotFound(f"file not found in the model definition of experiment {experiment_id}: {path}")


def _members(platform: Platform, experiment_id: int) -> Iterator[tuple[Member, IO[bytes] | None]]:
    with platform.store.read() as tx:
        context_id = tx.experiments.get(experiment_id).context_id
        content = tx.contexts.get(context_id) if context_id else None
    if content is not None:
        yield from read_context(io.BytesIO(content))
