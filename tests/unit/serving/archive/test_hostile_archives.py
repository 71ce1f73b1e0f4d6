"""Archives made to harm are refused in little memory and little time; bent ones are read or refused with a sentence."""

import gzip
import io
import json
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.domain.errors import ResoluteError
from resolute.serving.archive import extract_archive
from resolute.serving.archive.manifest import MANIFEST_PATH, parse_manifest

MODEL = {"model": {"modelName": "m", "modelVersion": "1", "handler": "h.py"}}
BOUNDED = """
import resource, sys, time
from pathlib import Path
from resolute.domain.errors import ResoluteError
from resolute.serving.archive import extract_archive
resource.setrlimit(resource.RLIMIT_DATA, (250 << 20, 250 << 20))
started = time.monotonic()
try:
    extract_archive(Path(sys.argv[1]), Path(sys.argv[2]))
except ResoluteError as refusal:
    print(refusal)
print(time.monotonic() - started < 20)
"""


def refusal_of(path: Path, folder: Path) -> str:
    """In a process that may have a quarter of a gigabyte."""
    command = [sys.executable, "-c", BOUNDED, str(path), str(folder / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    sentence, is_quick = done.stdout.rstrip().rsplit("\n", 1)
    assert is_quick == "True"
    assert not (folder / "out").exists()
    return sentence


def many_entries(path: Path, count: int, *, said: int | None = None) -> Path:
    """A zip of empty files by hand: with `said`, its end claims another number of them."""
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 0, 0, 0, 0, 8, 0)
    with path.open("wb") as file:
        file.write(local + b"%08d" % 0)
        start = file.tell()
        for number in range(count):
            head = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0)
            file.write(head + b"%08d" % number)
        size = file.tell() - start
        shown = min(0xFFFF, count if said is None else said)
        file.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, shown, shown, size, start, 0))
    return path


@pytest.mark.parametrize("said", [None, 1])
def test_a_million_entries_are_refused_by_the_length_of_their_index(tmp_path: Path, said: int | None) -> None:
    path = many_entries(tmp_path / "m.mar", 1_000_000, said=said)

    assert "has an index of 54,000,000 bytes; at most 20,000 files are unpacked" in refusal_of(path, tmp_path)


def test_more_entries_than_there_may_be_are_counted(tmp_path: Path) -> None:
    path = many_entries(tmp_path / "m.mar", 20_001)

    assert "has 20,001 files; at most 20,000 are unpacked" in refusal_of(path, tmp_path)


def test_a_tar_of_a_million_files_is_read_as_far_as_needed(tmp_path: Path) -> None:
    path = tmp_path / "m.tar.gz"
    block = b"".join(tarfile.TarInfo(f"f{number}").tobuf() for number in range(1000))
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(1000):
            file.write(block)

    assert "has 20,001 files; at most 20,000 are unpacked" in refusal_of(path, tmp_path)


@pytest.mark.parametrize("kind", [b"x", b"L", b"g"], ids=["extended header", "long name", "global header"])
def test_a_header_of_gigabytes_is_not_read(tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo("h")
    info.type, info.size = kind, 2 << 30
    path = tmp_path / "m.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(info.tobuf())
        for _ in range(64):
            file.write(bytes(1 << 20))

    assert "is taken for a decompression bomb" in refusal_of(path, tmp_path)


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.mar"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST_PATH, json.dumps(MODEL))
        with archive.open("zeros", "w", force_zip64=True) as file:
            for _ in range(300):
                file.write(bytes(1 << 20))

    assert "is taken for a decompression bomb" in refusal_of(path, tmp_path)


# ------------------------------------------------------------------------------------------------------------ bent


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST_PATH, json.dumps(MODEL))
        archive.writestr("h.py", "x = 1")
        archive.writestr("deep/er/weights", bytes(100))
    return buffer.getvalue()


def tarred() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in ((MANIFEST_PATH, json.dumps(MODEL).encode()), ("h.py", b"x = 1"), ("é" * 60, b"y")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


GOOD = {"zip": zipped(), "tar": tarred()}
FLIPS = st.lists(st.tuples(st.integers(0, 1 << 14), st.integers(0, 255)), max_size=6)
SPLICES = st.lists(st.tuples(st.integers(0, 1 << 14), st.integers(0, 20), st.binary(max_size=20)), max_size=2)


@settings(max_examples=200, deadline=None)
@given(kind=st.sampled_from(sorted(GOOD)), flips=FLIPS, splices=SPLICES, is_packed=st.booleans())
def test_a_bent_archive_is_unpacked_within_its_folder_or_refused(
    kind: str, flips: list[tuple[int, int]], splices: list[tuple[int, int, bytes]], is_packed: bool
) -> None:
    data = bytearray(GOOD[kind])
    for at, value in flips:
        data[at % len(data)] = value
    for at, length, put in splices:
        data[at % len(data) : at % len(data) + length] = put
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "m.mar"
        path.write_bytes(gzip.compress(bytes(data)) if is_packed else bytes(data))

        try:
            extract_archive(path, folder / "out")
        except ResoluteError as refusal:
            assert "Traceback" not in str(refusal)  # noqa: PT017
            assert not (folder / "out").exists()

        assert {entry.name for entry in folder.iterdir()} <= {"m.mar", "out"}
        assert not any(entry.is_symlink() for entry in folder.rglob("*"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
FIELDS = ["modelName", "modelVersion", "handler", "serializedFile", "modelFile", "requirementsFile", "configFile"]


@settings(max_examples=200, deadline=None)
@given(noise=st.binary(max_size=100), value=JSON, model=st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=7))
def test_any_manifest_is_read_or_refused(noise: bytes, value: Any, model: dict[str, Any]) -> None:
    texts = [noise, json.dumps(value), json.dumps({"model": value}), json.dumps({"model": {**MODEL["model"], **model}})]
    for text in texts:
        try:
            manifest = parse_manifest(text, "m.mar")
        except ResoluteError:
            continue
        assert all("/" not in file and ".." not in file.split("/") for file in manifest.files().values())
