"""A dataset version of the master, by `name:version`: where its files are and which classes it has."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from resolute.client import Client
from resolute.client.session import Session
from resolute.client.task.client import TaskClient
from resolute.client.task.retry import DATASET_LOOKUP
from resolute.domain.errors import InvalidInput
from resolute.vision.data.split_files import Split
from resolute.vision.detections import ClassName
from resolute.vision.storage import is_address

_BACKENDS = {"s3": "s3", "gs": "gcs", "az": "azure", "azure": "azure", "abfs": "azure", "abfss": "azure"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredData:
    reference: str
    backend: str
    data_dir: str
    train: Split
    val: Split
    classes: tuple[ClassName, ...]


def find_dataset(
    reference: str, session: Session | None = None, *, is_used: bool = True, env: Mapping[str, str] = os.environ
) -> RegisteredData:
    """`reference` is `name`, `name:3` or `name:latest`. Raises NotFound when the master has no such version.

    In a trial, the experiment is linked to the version when `is_used`; several ranks need to say it once.
    """
    trial = TaskClient.of(env) if session is None else None
    if trial is None:
        return _read((session or Client(env=env).session).get(_path(reference)))
    try:
        found = DATASET_LOOKUP.run(lambda: trial.get(_path(reference)))
        experiment = env.get("DET_EXPERIMENT_ID")
        if is_used and experiment:
            link = {"dataset": found["dataset"]["reference"]}
            DATASET_LOOKUP.run(lambda: trial.post(f"/api/v1/experiments/{experiment}/datasets", link))
    finally:
        trial.close()
    return _read(found)


def _path(reference: str) -> str:
    name, _, version = reference.partition(":")
    return f"/api/v1/datasets/{name}/{version or 'latest'}"


def _read(answer: Mapping[str, Any]) -> RegisteredData:
    found = answer["dataset"]
    uri = str(found["uri"])
    splits = _splits(found["annotations"], found["images"], found["reference"])
    return RegisteredData(
        reference=str(found["reference"]),
        backend=_BACKENDS[uri.partition("://")[0]] if is_address(uri) else "local",
        data_dir=uri.removeprefix("file://"),
        train=splits["train"],
        val=splits["val"],
        classes=tuple(ClassName(int(row["id"]), str(row["name"])) for row in found["classes"]),
    )


def _splits(annotations: list[str], images: list[str], reference: str) -> dict[str, Split]:
    """The file whose name says train is to learn from; val or valid is to be measured on."""
    found: dict[str, Split] = {}
    for labels, folder in zip(annotations, images, strict=True):
        name = labels.rpartition("/")[2].lower()
        split = "train" if "train" in name else "val" if "val" in name else ""
        if split:
            found[split] = Split(name=split, labels=labels, images=folder)
    for split in ("train", "val"):
        if split not in found:
            raise InvalidInput(
                f"Dataset {reference} has no label file for {split}; it has {', '.join(annotations) or 'none'}. "
                f"Register a version with a file named {split}_*.json, or set {split}_labels and data_dir instead."
            )
    return found
