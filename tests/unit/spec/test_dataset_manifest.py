"""The manifest of a dataset: the same files are the same bytes; whatever could not be trusted is refused."""

import gzip
import hashlib
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.dataset import DatasetFile
from resolute.domain.errors import InvalidInput, TooLarge
from resolute.spec import manifest

DIGEST = "0" * 64
FILES = [DatasetFile("b.jpg", 2, DIGEST), DatasetFile("a/x.json", 1, "f" * 64)]


def test_what_is_packed_comes_back_sorted() -> None:
    assert manifest.unpack(manifest.pack(FILES)) == sorted(FILES, key=lambda file: file.path)


def test_the_order_of_files_changes_nothing() -> None:
    assert manifest.pack(FILES) == manifest.pack(FILES[::-1])
    assert manifest.content_hash(FILES) == manifest.content_hash(FILES[::-1])


def test_the_hash_is_that_of_the_sorted_lines() -> None:
    lines = [
        json.dumps({"path": f.path, "size": f.size, "sha256": f.sha256}, separators=(",", ":"))
        for f in (FILES[1], FILES[0])
    ]
    text = "".join(f"{line}\n" for line in lines).encode()

    assert manifest.content_hash(FILES) == hashlib.sha256(text).hexdigest()


@pytest.mark.parametrize(
    "other",
    [DatasetFile("c.jpg", 2, DIGEST), DatasetFile("b.jpg", 3, DIGEST), DatasetFile("b.jpg", 2, "1" * 64)],
    ids=["path", "size", "digest"],
)
def test_any_difference_of_a_file_is_other_content(other: DatasetFile) -> None:
    assert manifest.content_hash([other, FILES[1]]) != manifest.content_hash(FILES)


@given(
    st.lists(
        st.builds(
            DatasetFile,
            path=st.from_regex(r"[a-zé ]{1,8}(/[a-z.]{0,3}[a-z])?", fullmatch=True),
            size=st.integers(0, 2**53),
            sha256=st.from_regex(r"[0-9a-f]{64}", fullmatch=True),
        ),
        min_size=1,
        unique_by=lambda file: file.path,
    )
)
def test_every_good_manifest_survives_the_way(files: list[DatasetFile]) -> None:
    manifest.check(files)

    assert manifest.content_hash(manifest.unpack(manifest.pack(files))) == manifest.content_hash(files)


@pytest.mark.parametrize(
    ("packed", "part"),
    [
        (b"text", "is not gzip"),
        (b"", "is cut off"),
        (gzip.compress(b"{}" * 100, mtime=0)[:-9], "is cut off"),
        (
            gzip.compress(b'{"path":"a","size":1,"sha256":"x"}\n{"path":1}\n', mtime=0),
            "line 2: '{\"path\":1}' is no file",
        ),
        (gzip.compress(b"not json", mtime=0), "line 1: 'not json' is no file"),
    ],
)
def test_what_is_no_manifest_is_refused_with_its_place(packed: bytes, part: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        manifest.unpack(packed)

    assert part in str(refusal.value)


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "MAX_BYTES", 1000)

    with pytest.raises(TooLarge, match="Register the set in parts"):
        manifest.unpack(gzip.compress(b" " * 100_000))


@pytest.mark.parametrize(
    ("file", "part"),
    [
        (DatasetFile("../secret", 1, DIGEST), "no path inside the set"),
        (DatasetFile("/etc/passwd", 1, DIGEST), "no path inside the set"),
        (DatasetFile("a//b", 1, DIGEST), "no path inside the set"),
        (DatasetFile("a\\b", 1, DIGEST), "no path inside the set"),
        (DatasetFile("a\0b", 1, DIGEST), "no path inside the set"),
        (DatasetFile("", 1, DIGEST), "no path inside the set"),
        (DatasetFile("b.jpg", 1, DIGEST), "twice"),
        (DatasetFile("c", -1, DIGEST), "Sizes start at 0"),
        (DatasetFile("c", 1, "abc"), "64 lower-case hex digits"),
        (DatasetFile("c", 1, "F" * 64), "64 lower-case hex digits"),
    ],
)
def test_files_that_cannot_be_are_refused(file: DatasetFile, part: str) -> None:
    with pytest.raises(InvalidInput, match=part):
        manifest.check([*FILES, file])


def test_an_empty_manifest_is_refused() -> None:
    with pytest.raises(InvalidInput, match="names no file"):
        manifest.check([])


def test_a_line_without_end_is_never_whole_in_memory() -> None:
    packed = gzip.compress(b"\0" * (64 << 20), compresslevel=1)

    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match="line 1: has more than 65536 bytes"):
            manifest.unpack(packed)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak_bytes < 16 << 20


def test_too_many_files_are_refused_before_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "MAX_FILES", 100)
    many = manifest.pack([DatasetFile(f"{number}.jpg", 1, DIGEST) for number in range(50_000)])

    with pytest.raises(TooLarge, match="more than 100 files"):
        manifest.unpack(many)


def test_lines_are_read_whole_wherever_a_piece_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "_PIECE_BYTES", 7)

    assert manifest.unpack(manifest.pack(FILES)) == sorted(FILES, key=lambda file: file.path)
    with pytest.raises(InvalidInput, match="line 3"):
        manifest.unpack(gzip.compress(gzip.decompress(manifest.pack(FILES)) + b"{}"))
