"""A dataset version of the master, by `name:version`: where its files are and which classes it has."""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx

from resolute.client import Client
from resolute.client.faults import error_from
from resolute.domain.errors import InvalidInput
from resolute.vision.data.places import Split
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


class Asks(Protocol):
    """A client's session, or a trial's own connection."""

    def get(self, path: str, **query: Any) -> dict[str, Any]: ...

    def post(self, path: str, body: Any = None) -> dict[str, Any]: ...


class TrialSession:
    """Calls to the master with the token that a trial was given."""

    def __init__(self, env: Mapping[str, str], transport: httpx.BaseTransport | None = None) -> None:
        self._master = env["DET_MASTER"]
        self.experiment_id = env.get("DET_EXPERIMENT_ID", "")
        cert = env.get("DET_MASTER_CERT_FILE")
        self._http = httpx.Client(
            base_url=self._master,
            headers={"Grpc-Metadata-x-allocation-token": f"Bearer {env['DET_SESSION_TOKEN']}"},
            verify=ssl.create_default_context(cafile=cert) if cert else self._master.startswith("https"),
            trust_env=False,
            transport=transport or httpx.HTTPTransport(retries=3),
        )

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        return self._read(self._http.get(path, params=query))

    def post(self, path: str, body: Any = None) -> dict[str, Any]:
        return self._read(self._http.post(path, json=body))

    def _read(self, answer: httpx.Response) -> dict[str, Any]:
        if answer.is_error:
            raise error_from(answer, self._master)
        return dict(answer.json())


def find_dataset(reference: str, session: Asks | None = None, *, is_used: bool = True) -> RegisteredData:
    """`reference` is `name`, `name:3` or `name:latest`. Raises NotFound when the master has no such version.

    In a trial, the experiment is linked to the version when `is_used`; several ranks need to say it once.
    """
    name, _, version = reference.partition(":")
    own = session or _own_session(os.environ)
    found = own.get(f"/api/v1/datasets/{name}/{version or 'latest'}")["dataset"]
    if is_used and isinstance(own, TrialSession) and own.experiment_id:
        own.post(f"/api/v1/experiments/{own.experiment_id}/datasets", {"dataset": found["reference"]})
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


def _own_session(env: Mapping[str, str]) -> Asks:
    if "DET_SESSION_TOKEN" in env and "DET_MASTER" in env:
        return TrialSession(env)
    return Client().session


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
