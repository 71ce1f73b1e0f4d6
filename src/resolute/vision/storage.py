"""One file from an object store by its address: s3://, gs://, az://. Credentials come from the environment.

Image datasets keep a store open instead: see `data.backends`.
"""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import obstore
from obstore.exceptions import BaseError, NotFoundError, PermissionDeniedError, UnauthenticatedError
from obstore.store import ObjectStore, from_url

from resolute.domain.errors import Forbidden, NotFound, ResoluteError, Unavailable

_SCHEMES = ("s3://", "gs://", "az://", "azure://", "abfs://", "abfss://")
_RETRY: Any = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}
_CHUNK = 8 << 20


def is_address(place: str) -> bool:
    return place.startswith(_SCHEMES)


def open_store(address: str, *, is_anonymous: bool = False) -> ObjectStore:
    """A client for the folder at `address`. Opens no connection."""
    options: dict[str, Any] = {"retry_config": _RETRY}
    config: Any = {"skip_signature": True} if is_anonymous else {}
    if address.startswith("s3://"):
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        config["region"] = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        if endpoint:
            config["endpoint"] = endpoint
        options["client_options"] = {"allow_http": bool(endpoint and endpoint.startswith("http://"))}
    return from_url(address, config=config or None, **options)


def fetch_file(address: str, target: Path) -> None:
    folder, _, name = address.rpartition("/")
    try:
        store = open_store(folder)
        with target.open("wb") as out:
            for chunk in obstore.get(store, name).stream(min_chunk_size=_CHUNK):
                out.write(chunk)
    except (BaseError, FileNotFoundError) as problem:
        raise explained(address, problem) from problem


def read_bytes(store: ObjectStore, key: str, address: str) -> bytes:
    try:
        return bytes(obstore.get(store, key).bytes())
    except (BaseError, FileNotFoundError) as problem:
        raise explained(f"{address.rstrip('/')}/{key}", problem) from problem


def explained(address: str, problem: Exception) -> ResoluteError:
    """What a store says, as our own error with the address and what to do."""
    lines = str(problem).strip().splitlines()
    reason = (lines[0] if lines else type(problem).__name__).rstrip(".")
    if isinstance(problem, NotFoundError | FileNotFoundError):
        return NotFound(f"There is nothing at {address}. Check the bucket and the path.")
    if isinstance(problem, PermissionDeniedError | UnauthenticatedError):
        return Forbidden(f"{address} refuses these credentials: {reason}. Set AWS_*, GOOGLE_* or AZURE_* variables.")
    return Unavailable(f"{address} does not answer as it should: {reason}.")
