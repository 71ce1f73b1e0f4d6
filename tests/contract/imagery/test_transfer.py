"""Push and pull: one set of promises, asked of folders and of a real S3 server."""

import os
from pathlib import Path

import obstore
import pytest
from obstore.exceptions import GenericError

from resolute.domain.errors import Forbidden, InvalidInput, NotFound
from resolute.imagery.locations import explained, open_place
from resolute.imagery.manifest import MANIFEST, PARTIAL
from resolute.imagery.transfer import pull, push


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of many sizes, an empty one among them, some in sub-folders."""
    root = tmp_path / "set"
    for place, size in enumerate([0, 1, 1000, 70_000, 9_000_000]):
        path = root / f"part{place % 2}" / f"{place}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(size))
    return root


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def damage(url: str, key: str, content: bytes) -> None:
    obstore.put(open_place(url, is_writing=True), key, content)


def names(url: str) -> set[str]:
    store = open_place(url, is_writing=False)
    return {entry["path"] for chunk in obstore.list(store) for entry in chunk}


def test_a_set_comes_back_as_it_went(folder: Path, store_url: str, tmp_path: Path) -> None:
    pushed = push(folder, store_url)

    pulled = pull(store_url, tmp_path / "back")

    assert (pushed.moved, pushed.skipped, pushed.failures) == (5, 0, [])
    assert (pulled.moved, pulled.moved_bytes) == (5, 9_071_001)
    assert tree(tmp_path / "back") == tree(folder)


def test_what_has_arrived_is_not_moved_again(folder: Path, store_url: str, tmp_path: Path) -> None:
    push(folder, store_url)
    pull(store_url, tmp_path / "back")
    (folder / "part0" / "0.bin").write_bytes(b"changed")

    pushed, pulled = push(folder, store_url), pull(store_url, tmp_path / "back")

    assert (pushed.moved, pushed.skipped) == (1, 4)
    assert (pulled.moved, pulled.skipped) == (1, 4)
    assert tree(tmp_path / "back") == tree(folder)


def test_a_push_goes_on_from_the_record_of_one_that_was_stopped(folder: Path, store_url: str) -> None:
    push(folder, store_url)
    store = open_place(store_url, is_writing=True)
    obstore.put(store, PARTIAL, bytes(obstore.get(store, MANIFEST).bytes()))
    obstore.delete(store, [MANIFEST, "part0/2.bin"])

    again = push(folder, store_url)

    assert (again.moved, again.skipped) == (1, 4)
    assert PARTIAL not in names(store_url)
    assert MANIFEST in names(store_url)


def test_a_file_damaged_in_the_store_is_never_given_its_name(folder: Path, store_url: str, tmp_path: Path) -> None:
    push(folder, store_url)
    damage(store_url, "part0/2.bin", b"x" * 1000)

    done = pull(store_url, tmp_path / "back")

    assert done.failures == ["part0/2.bin differs from the manifest (sha256). Push it again from a good copy."]
    assert done.moved == 4
    assert not list((tmp_path / "back").rglob("2.bin*"))


def test_a_file_missing_from_the_store_is_reported_and_the_rest_pulled(
    folder: Path, store_url: str, tmp_path: Path
) -> None:
    push(folder, store_url)
    obstore.delete(open_place(store_url, is_writing=True), ["part1/1.bin"])

    done = pull(store_url, tmp_path / "back")

    assert done.moved == 4
    assert done.failures[0].startswith("part1/1.bin: ")


def test_a_file_changed_on_this_side_is_fetched_again(folder: Path, store_url: str, tmp_path: Path) -> None:
    push(folder, store_url)
    pull(store_url, tmp_path / "back")
    (tmp_path / "back" / "part0" / "2.bin").write_bytes(os.urandom(1000))

    again = pull(store_url, tmp_path / "back")

    assert (again.moved, again.skipped) == (1, 4)
    assert tree(tmp_path / "back") == tree(folder)


def test_a_place_without_a_manifest_is_no_set(store_url: str, tmp_path: Path) -> None:
    damage(store_url, "something", b"else")

    with pytest.raises(NotFound, match=r"it has no resolute-manifest.json"):
        pull(store_url, tmp_path / "back")


def test_an_empty_or_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no folder"):
        push(tmp_path / "gone", str(tmp_path / "store"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="holds no file"):
        push(tmp_path / "empty", str(tmp_path / "store"))


def test_an_address_of_no_known_store_is_refused(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="ftp://x cannot be opened"):
        push(folder, "ftp://x")


def test_wrong_credentials_are_said_to_be_wrong(
    folder: Path, s3_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")

    with pytest.raises(Forbidden, match="s3://imagery/x refuses these credentials"):
        push(folder, "s3://imagery/x")


@pytest.mark.parametrize(
    ("url", "variable"),
    [
        ("s3://bucket/x", "AWS_ACCESS_KEY_ID"),
        ("gs://bucket/x", "GOOGLE_APPLICATION_CREDENTIALS"),
        ("az://box/x", "AZURE_STORAGE_ACCOUNT_KEY"),
    ],
)
def test_missing_credentials_are_told_with_what_to_set(url: str, variable: str) -> None:
    with pytest.raises(Forbidden, match=rf"There are no credentials for {url}\. Set .*{variable}"), explained(url):
        raise GenericError("Error performing PUT http://169.254.169.254/latest/api/token: no answer")
