"""`engine.ports.registry.DatasetFiles` over a folder and over S3."""

import uuid
from pathlib import Path

import obstore
import pytest
from obstore.store import S3Store

from resolute.domain.errors import InvalidInput, NotFound, Unavailable
from resolute.store.blobs.dataset_files import open_dataset_files


@pytest.fixture(params=["folder", "file-address", "s3"])
def uri(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A set with one file, `images/1.jpg`."""
    if request.param != "s3":
        (tmp_path / "images").mkdir()
        (tmp_path / "images" / "1.jpg").write_bytes(b"pixels")
        return str(tmp_path) if request.param == "folder" else f"file://{tmp_path}"
    endpoint: str = request.getfixturevalue("s3_endpoint")
    key, secret = request.getfixturevalue("s3_keys")
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    prefix = f"sets/{uuid.uuid4().hex}"
    store = S3Store(
        "contract",
        prefix=prefix,
        endpoint=endpoint,
        access_key_id=key,
        secret_access_key=secret,
        region="us-east-1",
        client_options={"allow_http": True},
    )
    obstore.put(store, "images/1.jpg", b"pixels")
    return f"s3://contract/{prefix}"


def test_a_file_is_read_whole(uri: str) -> None:
    assert open_dataset_files(uri).read("images/1.jpg", size=6) == b"pixels"


def test_a_file_that_is_not_there_is_told(uri: str) -> None:
    with pytest.raises(NotFound, match=r"images/2\.jpg is not in"):
        open_dataset_files(uri).read("images/2.jpg", size=6)


def test_a_file_of_another_size_has_changed(uri: str) -> None:
    with pytest.raises(NotFound, match="has 6 bytes; 7 were registered"):
        open_dataset_files(uri).read("images/1.jpg", size=7)


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "images/../../x", ""])
def test_paths_that_leave_the_set_are_refused(uri: str, path: str) -> None:
    with pytest.raises(InvalidInput, match="no path inside"):
        open_dataset_files(uri).read(path, size=1)


@pytest.mark.parametrize("address", ["ftp://x/y", "http://x", "relative/folder"])
def test_addresses_of_no_known_kind_are_refused(address: str) -> None:
    with pytest.raises(InvalidInput):
        open_dataset_files(address)


def test_a_folder_that_is_not_there_is_told_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="Was it moved"):
        open_dataset_files(str(tmp_path / "gone"))

    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("uri", ["s3"], indirect=True)
def test_a_store_that_refuses_the_keys_is_told(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")

    with pytest.raises(Unavailable, match="Check the address and the keys"):
        open_dataset_files(uri).read("images/1.jpg", size=6)
