"""Uploaded files become checked, repeatable archives."""

import base64
import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidInput, TooLarge
from resolute.server.uploads import pack_files
from resolute.spec.wire.experiments import File

segments = st.text(alphabet="abcdefgh_-0123456789", min_size=1, max_size=8)
paths = st.lists(segments, min_size=1, max_size=3).map("/".join)


def upload(path: str, content: bytes = b"", **fields: int) -> File:
    return File(path=path, content=base64.b64encode(content).decode(), **fields)  # type: ignore[arg-type]


def test_nothing_uploaded_is_nothing_stored() -> None:
    assert pack_files([]) is None


@given(st.dictionaries(paths, st.binary(max_size=300), min_size=1, max_size=5))
def test_every_file_comes_back_and_the_bytes_repeat(files: dict[str, bytes]) -> None:
    uploads = [upload(path, content) for path, content in files.items()]

    packed = pack_files(uploads)

    assert packed == pack_files(uploads)
    with tarfile.open(fileobj=io.BytesIO(packed or b"")) as tar:
        assert {m.name: tar.extractfile(m).read() for m in tar.getmembers()} == files  # type: ignore[union-attr]


def test_modes_are_kept_without_the_bits_that_matter_to_root() -> None:
    packed = pack_files([upload("run.sh", b"x", mode=0o104755)])

    with tarfile.open(fileobj=io.BytesIO(packed or b"")) as tar:
        assert tar.getmember("run.sh").mode == 0o755


def test_the_owner_of_the_files_is_nobody_in_particular() -> None:
    packed = pack_files([upload("a", b"x", uid=1234, gid=99)])

    with tarfile.open(fileobj=io.BytesIO(packed or b"")) as tar:
        assert (tar.getmember("a").uid, tar.getmember("a").gid) == (0, 0)


@pytest.mark.parametrize("path", ["../a", "/a", "a/../../b", "a/\0b"])
def test_paths_that_lead_out_are_refused_by_name(path: str) -> None:
    with pytest.raises(InvalidInput, match="is refused"):
        pack_files([upload(path, b"x")])


@pytest.mark.parametrize("kind", [49, 50, 51, 54, 1, 255])
def test_only_files_and_directories_are_taken(kind: int) -> None:
    with pytest.raises(InvalidInput, match=f"type {kind}"):
        pack_files([upload("link", b"", type=kind)])


def test_too_many_files_are_refused_before_they_are_packed() -> None:
    many = (upload(f"f{number}") for number in range(100_001))

    with pytest.raises(TooLarge, match="100,000 entries"):
        pack_files(list(many))


def test_content_that_is_not_base64_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"'a\.py' is not base64"):
        pack_files([File(path="a.py", content="not base64!")])
