"""Where models are kept: `<base>/<id>/trained|tuned|deploy/<32 hex>/`, in a folder or an object store."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from resolute.client.lifecycle.config import Config
from resolute.domain.errors import InvalidInput, NotFound
from resolute.store.blobs import ObjectBlobs, open_blobs

MODEL_FILE = "model.json"
TRAINED, TUNED, DEPLOY = "trained", "tuned", "deploy"


class ModelStorage:
    """Of one model. Opens nothing until something is asked."""

    def __init__(self, config: Config, model_id: str) -> None:
        self._config = config
        self._model_id = model_id

    @property
    def is_wanted(self) -> bool:
        """Exported models are copied here, beside the master's own copy."""
        return self._config.has_storage

    @property
    def base(self) -> str:
        return f"{self._config.base_model_storage_uri}/{self._model_id}"

    def uri(self, kind: str, token: str) -> str:
        return f"{self.base}/{kind}/{token}"

    def put(self, kind: str, token: str, folder: Path) -> str:
        """Keep the files of `folder`; the address comes back."""
        self._open(f"{self.base}/{kind}").upload(token, folder)
        return self.uri(kind, token)

    @contextmanager
    def fetched(self, uri: str) -> Iterator[Path]:
        """The files at `uri`, in a folder of this machine."""
        path = local_path(uri)
        if path is not None and path.is_dir():
            yield path
            return
        parent, _, name = uri.rstrip("/").rpartition("/")
        with tempfile.TemporaryDirectory(prefix="resolute-model-") as temporary:
            target = Path(temporary)
            if path is not None and path.is_file():
                shutil.copy2(path, target / path.name)
            elif path is not None:
                raise NotFound(f"model_uri: there is nothing at {uri}. Give the folder or file of a saved model.")
            else:
                self._open(parent).download(name, target)
            yield target

    def write_json(self, uri: str, content: dict[str, Any]) -> None:
        text = json.dumps(content, indent=2)
        path = local_path(uri)
        if path is None:
            blobs, folder, name = self._object(uri)
            blobs.write(folder, name, text.encode())
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.write_text(text)
        draft.replace(path)

    def read_json(self, uri: str) -> dict[str, Any]:
        try:
            content = json.loads(self._read(uri))
        except ValueError as problem:
            raise InvalidInput(f"{uri} is not the JSON of a model: {problem}.") from None
        if not isinstance(content, dict):
            raise InvalidInput(f"{uri} is not the JSON of a model: it holds a {type(content).__name__}.")
        return content

    def exists(self, uri: str) -> bool:
        path = local_path(uri)
        if path is not None:
            return path.exists()
        blobs, folder, name = self._object(uri)
        return name in blobs.files(folder)

    def _read(self, uri: str) -> bytes:
        path = local_path(uri)
        if path is None:
            blobs, folder, name = self._object(uri)
            return b"".join(blobs.read(folder, name))
        try:
            return path.read_bytes()
        except OSError as problem:
            raise NotFound(f"{uri} cannot be read: {problem.strerror}. Save a model there with save_as_json.") from None

    def _object(self, uri: str) -> tuple[ObjectBlobs, str, str]:
        """An address as a store, a folder in it and a file in that."""
        parts = uri.removeprefix("s3://").split("/")
        if len(parts) < 3 or not all(parts):
            raise InvalidInput(f"{uri} names no file in a folder of a bucket. Write s3://bucket/folder/model.json.")
        return self._open("s3://" + "/".join(parts[:-2])), parts[-2], parts[-1]

    def _open(self, uri: str) -> ObjectBlobs:
        path = local_path(uri)
        if path is not None:
            return open_blobs({"type": "directory", "container_path": str(path)})
        bucket, _, prefix = uri.removeprefix("s3://").partition("/")
        return open_blobs(self._config.storage_config_provider.storage(bucket, prefix))


def local_path(uri: str) -> Path | None:
    """The folder or file that `uri` names; None for one in an object store."""
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return Path(uri).expanduser().absolute()
    if scheme == "file":
        return Path(rest)
    if scheme == "s3":
        return None
    raise InvalidInput(f"{uri} cannot be opened. Give a folder, or an address that begins with s3://.")
