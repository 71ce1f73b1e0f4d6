"""Where models are kept, the same in a folder and in an object store."""

import uuid
from pathlib import Path

import pytest

from resolute.client.lifecycle.storage import ModelStorage
from resolute.domain.errors import NotFound
from resolute.lifecycle import Config, S3ConfigurationProvider


@pytest.fixture(params=["folder", "s3"])
def config(request: pytest.FixtureRequest, tmp_path: Path) -> Config:
    if request.param == "folder":
        return Config(base_model_storage_uri=tmp_path / "models")
    key, secret = request.getfixturevalue("s3_keys")
    provider = S3ConfigurationProvider(
        endpoint=request.getfixturevalue("s3_endpoint"), access_key=key, secret_key=secret
    )
    base = f"s3://contract/{uuid.uuid4().hex}/models"
    return Config(storage_config_provider=provider, base_model_storage_uri=base)


@pytest.fixture
def storage(config: Config) -> ModelStorage:
    return ModelStorage(config, "dev/mnist")


def test_files_come_back_from_their_address(storage: ModelStorage, config: Config, tmp_path: Path) -> None:
    source = tmp_path / "exported"
    (source / "inner").mkdir(parents=True)
    (source / "model.pt").write_bytes(b"weights")
    (source / "inner" / "names.json").write_bytes(b"[]")

    uri = storage.put("trained", "e268b7a148af4aa7a26f0639f1695edc", source)

    assert uri == f"{config.base_model_storage_uri}/dev/mnist/trained/e268b7a148af4aa7a26f0639f1695edc"
    with storage.fetched(uri) as folder:
        found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert found == {"model.pt": b"weights", "inner/names.json": b"[]"}


def test_nothing_at_an_address_is_said(storage: ModelStorage) -> None:
    with pytest.raises(NotFound), storage.fetched(storage.uri("trained", "0" * 32)):
        pass


def test_a_document_is_there_once_it_is_written(storage: ModelStorage) -> None:
    uri = f"{storage.base}/model.json"
    before = storage.exists(uri)

    storage.write_json(uri, {"id": "dev/mnist"})
    storage.write_json(uri, {"id": "dev/mnist", "version": "2"})

    assert (before, storage.exists(uri)) == (False, True)
    assert storage.read_json(uri) == {"id": "dev/mnist", "version": "2"}


def test_a_document_that_is_not_there_is_said(storage: ModelStorage) -> None:
    with pytest.raises(NotFound):
        storage.read_json(f"{storage.base}/model.json")
