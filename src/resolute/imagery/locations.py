"""Where sets of files live: folders, S3, GCS and Azure behind one client, and their refusals in our own words."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import obstore
from obstore.exceptions import BaseError, NotFoundError, PermissionDeniedError, UnauthenticatedError
from obstore.store import LocalStore, MemoryStore, ObjectStore, from_url

from resolute.domain.errors import Forbidden, InvalidInput, NotFound, Unavailable
from resolute.imagery.files import existing_folder, make_folder

FAKE = "fake"
"""`fake://<name>`: a store in this process, for tests and dry runs."""
_SCHEMES = ("s3", "gs", "az", "azure", "abfs", "abfss")
_RETRY: Any = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}
_METADATA_HOSTS = ("169.254.169.254", "metadata.google.internal")
"""Asked for credentials when the environment has none; outside of a cloud nobody answers there."""
_CREDENTIALS = {"s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", "gs": "GOOGLE_APPLICATION_CREDENTIALS"}
_fakes: dict[str, MemoryStore] = {}


def open_place(url: str, *, is_writing: bool, is_anonymous: bool = False) -> ObjectStore:
    """A client for what is below `url`. Opens no connection. `is_anonymous`: requests are not signed."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme == "file":
        path = Path(rest if separator else url).absolute()
        if is_writing:
            make_folder(path)
        return LocalStore(existing_folder(path))
    if scheme == FAKE:
        return _fakes.setdefault(rest, MemoryStore())
    if scheme not in _SCHEMES:
        place = url.partition("?")[0]
        raise InvalidInput(f"{place} cannot be opened. Give a folder, or an address of s3://, gs:// or az://.")
    options: dict[str, Any] = {"retry_config": _RETRY}
    config: Any = {"skip_signature": True} if is_anonymous else {}
    if scheme == "s3":
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        config |= {"region": region, **({"endpoint": endpoint} if endpoint else {})}
        options["client_options"] = {"allow_http": bool(endpoint and endpoint.startswith("http://"))}
    return from_url(url, config=config or None, **options)


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Turns what a store says into our own errors, with the address."""
    try:
        yield
    except (PermissionDeniedError, UnauthenticatedError) as problem:
        raise Forbidden(f"{url} refuses these credentials: {first_line(problem)}.") from problem
    except (NotFoundError, FileNotFoundError) as problem:
        raise NotFound(f"{url} is not there: {first_line(problem)}. Create the bucket first.") from problem
    except (BaseError, OSError) as problem:
        if any(host in str(problem) for host in _METADATA_HOSTS):
            raise Forbidden(f"There are no credentials for {url}. {_credentials(url)}") from problem
        raise Unavailable(f"{url} does not answer as it should: {first_line(problem)}.") from problem


def _credentials(url: str) -> str:
    variables = _CREDENTIALS.get(url.partition("://")[0], "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY")
    return f"Set {variables} in the environment, as for the cloud's own tools."


def first_line(problem: BaseException) -> str:
    lines = str(problem).strip().splitlines()
    return (lines[0] if lines else type(problem).__name__).rstrip(".")


def exists(store: ObjectStore, key: str) -> bool:
    try:
        obstore.head(store, key)
    except (NotFoundError, FileNotFoundError):
        return False
    return True
