"""One file from an object store by its address: s3://, gs://, az://. Credentials come from the environment.

Image datasets keep a store open instead: see `data.sources`.
"""

from pathlib import Path

import obstore
from obstore.exceptions import BaseError, NotFoundError, PermissionDeniedError, UnauthenticatedError
from obstore.store import ObjectStore

from resolute.domain.errors import Forbidden, NotFound, ResoluteError, Unavailable
from resolute.imagery.locations import first_line, open_place

_SCHEMES = ("s3://", "gs://", "az://", "azure://", "abfs://", "abfss://")
_CHUNK = 8 << 20


def is_address(place: str) -> bool:
    return place.startswith(_SCHEMES)


def open_store(address: str, *, is_anonymous: bool = False) -> ObjectStore:
    """A client for the folder at `address`. Opens no connection."""
    return open_place(address, is_writing=False, is_anonymous=is_anonymous)


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
    reason = first_line(problem)
    if isinstance(problem, NotFoundError | FileNotFoundError):
        return NotFound(f"There is nothing at {address}. Check the bucket and the path.")
    if isinstance(problem, PermissionDeniedError | UnauthenticatedError):
        return Forbidden(f"{address} refuses these credentials: {reason}. Set AWS_*, GOOGLE_* or AZURE_* variables.")
    return Unavailable(f"{address} does not answer as it should: {reason}.")
