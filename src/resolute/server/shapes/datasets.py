"""Datasets, labelled images and lineage as messages."""

from collections.abc import Sequence
from typing import cast

from resolute.domain.dataset import DatasetFile, DatasetVersion
from resolute.engine.registry.lineage import Lineage
from resolute.imagery.coco import Annotation, Image
from resolute.spec.wire import datasets as wire
from resolute.spec.wire.base import json_safe


def dataset_message(dataset: DatasetVersion, *, username: str, parents: Sequence[str]) -> wire.Dataset:
    return wire.Dataset(
        id=dataset.id,
        name=dataset.name,
        version=dataset.version,
        reference=dataset.reference,
        content_hash=dataset.content_hash,
        uri=dataset.uri,
        annotations=list(dataset.annotations),
        images=list(dataset.images),
        file_count=dataset.file_count,
        size=dataset.size,
        description=dataset.description,
        classes=[wire.DatasetClass(id=each.id, name=each.name) for each in dataset.classes],
        parents=list(parents),
        statistics=json_safe(dataset.statistics),
        user_id=dataset.user_id,
        username=username,
        workspace_id=dataset.workspace_id,
        created_at=dataset.created_at,
    )


def file_message(file: DatasetFile) -> wire.DatasetFile:
    return wire.DatasetFile(path=file.path, size=file.size, sha256=file.sha256)


def image_message(image: Image, annotations: Sequence[Annotation], *, folder: str) -> wire.LabelledImage:
    return wire.LabelledImage(
        id=image.id,
        file_name=image.file_name,
        path=f"{folder}/{image.file_name}" if folder else image.file_name,
        width=image.width,
        height=image.height,
        boxes=[
            wire.LabelledBox(
                id=each.id, bbox=each.bbox, category_id=each.category_id, area=each.area, iscrowd=each.iscrowd
            )
            for each in annotations
        ],
    )


def lineage_message(found: Lineage) -> wire.LineageResponse:
    nodes = [
        wire.LineageNode(
            key=node.key,
            kind=cast(wire.LineageKind, str(node.kind)),
            id=node.id,
            name=node.name,
            state=node.state,
            time=node.time,
            details=json_safe(node.details),
        )
        for node in found.nodes
    ]
    edges = [wire.LineageEdge(from_=source, to=target) for source, target in found.edges]
    return wire.LineageResponse(nodes=nodes, edges=edges, is_truncated=found.is_truncated)
