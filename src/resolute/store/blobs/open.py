"""From a `checkpoint_storage` section to an obstore client. Reads no files and opens no connection.

Keys that are left out are taken from the environment, by the names each cloud's own tools use.
"""

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from obstore.store import AzureStore, GCSStore, LocalStore, ObjectStore, S3Store

from resolute.domain.errors import InvalidInput

# A store that is away for longer than this is reported, not waited for.
_RETRY: Any = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}
_DEFAULT_REGION = "us-east-1"
Opened = tuple[ObjectStore, str]


def open_object_store(storage: Mapping[str, object]) -> Opened:
    """The client and a name for people. Raises InvalidInput for an unknown type or a missing key."""
    kind = storage.get("type")
    opener = _OPENERS.get(str(kind))
    if opener is None:
        raise InvalidInput(f"checkpoint_storage.type is {kind!r}. Use one of: {', '.join(_OPENERS)}.")
    return opener(storage)


def _shared_fs(storage: Mapping[str, object]) -> Opened:
    root = Path(_needed(storage, "host_path"))
    inside = storage.get("storage_path")
    # An absolute storage_path replaces the root, as `/` does for paths; it has to lie under it.
    folder = root / str(inside) if inside else root
    if not Path(os.path.normpath(folder)).is_relative_to(os.path.normpath(root)):
        raise InvalidInput(
            f"checkpoint_storage.storage_path {inside!r} is outside of host_path {str(root)!r}. Choose a folder in it."
        )
    return _folder(folder)


def _directory(storage: Mapping[str, object]) -> Opened:
    return _folder(Path(_needed(storage, "container_path")))


def _folder(path: Path) -> Opened:
    if not path.is_absolute():
        raise InvalidInput(f"checkpoint_storage points at {str(path)!r}, which is relative. Write an absolute path.")
    try:
        return LocalStore(path, mkdir=True, automatic_cleanup=True), f"folder {path}"
    except Exception as error:  # obstore passes the operating system's refusal on as its own base class
        raise InvalidInput(
            f"The checkpoint folder {path} cannot be used: {error}. Create it, or choose one that can be written."
        ) from error


def _s3(storage: Mapping[str, object]) -> Opened:
    bucket = _needed(storage, "bucket")
    options: dict[str, Any] = {"region": storage.get("region") or os.environ.get("AWS_REGION", _DEFAULT_REGION)}
    if endpoint := _text(storage, "endpoint_url"):
        options["endpoint"] = endpoint
        options["client_options"] = {"allow_http": endpoint.startswith("http://")}
    if access_key := storage.get("access_key"):
        options["access_key_id"] = access_key
        options["secret_access_key"] = _needed(storage, "secret_key")
    store = S3Store(bucket, prefix=_prefix(storage), retry_config=_RETRY, **options)
    return store, f"s3://{bucket}/{_prefix(storage) or ''}"


def _gcs(storage: Mapping[str, object]) -> Opened:
    bucket = _needed(storage, "bucket")
    return GCSStore(bucket, prefix=_prefix(storage), retry_config=_RETRY), f"gs://{bucket}/{_prefix(storage) or ''}"


def _azure(storage: Mapping[str, object]) -> Opened:
    container = _needed(storage, "container")
    options: dict[str, Any] = {}
    if text := _text(storage, "connection_string"):
        options = _azure_connection(text)
    if url := _text(storage, "account_url"):
        options["endpoint"] = url
        options.setdefault("account_name", url.split("//")[-1].split(".")[0])
    if credential := storage.get("credential"):
        options["account_key"] = credential
    store = AzureStore(container, prefix=_prefix(storage), retry_config=_RETRY, **options)
    return store, f"azure container {container}"


def _azure_connection(text: str) -> dict[str, Any]:
    names = {"AccountName": "account_name", "AccountKey": "account_key", "BlobEndpoint": "endpoint"}
    pairs = (part.split("=", 1) for part in text.split(";") if "=" in part)
    options: dict[str, Any] = {names[key]: value for key, value in pairs if key in names}
    if str(options.get("endpoint", "")).startswith("http://"):
        options["client_options"] = {"allow_http": True}
    return options


def _prefix(storage: Mapping[str, object]) -> str | None:
    return _text(storage, "prefix").strip("/") or None


def _text(storage: Mapping[str, object], key: str) -> str:
    """Empty where it is left out."""
    return str(storage.get(key) or "")


def _needed(storage: Mapping[str, object], key: str) -> str:
    value = storage.get(key)
    if not value:
        raise InvalidInput(f"checkpoint_storage of type {storage.get('type')!r} needs the key {key!r}. Add it.")
    return str(value)


_OPENERS: dict[str, Callable[[Mapping[str, object]], Opened]] = {
    "shared_fs": _shared_fs,
    "directory": _directory,
    "s3": _s3,
    "gcs": _gcs,
    "azure": _azure,
}
