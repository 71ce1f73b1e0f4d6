"""An archive made by a stranger cannot write outside its folder, fill the disk, or lie about what it holds."""

import io
import json
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidInput, TooLarge
from resolute.serving.archive import Limits, Manifest, extract_archive, is_archive
from resolute.serving.archive.manifest import MANIFEST_PATH, parse_manifest
from resolute.serving.archive.read import read_manifest

MODEL: dict[str, Any] = {"modelName": "m", "modelVersion": "1.0", "handler": "h.py", "serializedFile": "w.pt"}
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A zip with a good manifest, its two files, and whatever else is given."""

    def archive(extra: dict[str, bytes] | None = None, model: dict[str, Any] | None = None) -> Path:
        path = tmp_path / "m.mar"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
            target.writestr(MANIFEST_PATH, json.dumps({"runtime": "python", "model": model or MODEL}))
            for name, content in ({"h.py": b"x = 1", "w.pt": b"weights"} | (extra or {})).items():
                target.writestr(name, content)
        return path

    return archive


def _tar(path: Path, members: list[tarfile.TarInfo], content: bytes = b"") -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for info in members:
            info.size = len(content) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(content))
    return path


def test_a_good_archive_is_unpacked_with_its_manifest(make: Make, tmp_path: Path) -> None:
    manifest = extract_archive(make({"deep/er.txt": b"e"}), tmp_path / "out")

    assert manifest.name == "m"
    assert manifest.files() == {"serializedFile": "w.pt", "handler": "h.py"}
    assert (tmp_path / "out/deep/er.txt").read_bytes() == b"e"


def test_the_folder_around_a_tar_is_taken_off(tmp_path: Path) -> None:
    text = json.dumps({"model": MODEL | {"handler": "image_classifier", "serializedFile": None}}).encode()
    path = _tar(tmp_path / "m.tar.gz", [tarfile.TarInfo(f"m/{MANIFEST_PATH}")], text)

    manifest = extract_archive(path, tmp_path / "out")

    assert manifest.handler_file is None
    assert (tmp_path / "out" / MANIFEST_PATH).is_file()


@pytest.mark.parametrize("name", ["../evil.py", "a/../../evil.py", "/etc/evil", "C:/evil", "a\\..\\evil"])
def test_names_that_lead_out_are_refused_and_nothing_is_left(make: Make, tmp_path: Path, name: str) -> None:
    path = make({name: b"evil"})

    with pytest.raises(InvalidInput, match="leads out of the archive"):
        extract_archive(path, tmp_path / "out")

    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.rglob("evil*"))


def test_links_in_a_zip_are_refused(make: Make, tmp_path: Path) -> None:
    path = make()
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")

    with pytest.raises(InvalidInput, match="link is a link; archives may hold plain files only"):
        extract_archive(path, tmp_path / "out")


@pytest.mark.parametrize(
    ("kind", "word"), [(tarfile.SYMTYPE, "link"), (tarfile.LNKTYPE, "link"), (tarfile.FIFOTYPE, "device")]
)
def test_links_and_devices_in_a_tar_are_refused(tmp_path: Path, kind: bytes, word: str) -> None:
    info = tarfile.TarInfo("m/x")
    info.type, info.linkname = kind, "/etc/passwd"
    path = _tar(tmp_path / "m.tgz", [info])

    with pytest.raises(InvalidInput, match=f"m/x is a {word}"):
        extract_archive(path, tmp_path / "out")


def test_a_member_that_unpacks_to_far_more_than_it_weighs_is_refused(make: Make, tmp_path: Path) -> None:
    path = make({"zeros.bin": bytes(40 << 20)})

    with pytest.raises(TooLarge, match=r"zeros.bin unpacks from .* to 41,943,040 bytes, more than 200 times"):
        extract_archive(path, tmp_path / "out")


def test_a_tar_bomb_is_refused(tmp_path: Path) -> None:
    path = _tar(tmp_path / "m.tgz", [tarfile.TarInfo("zeros")], bytes(40 << 20))

    with pytest.raises(TooLarge, match="more than 200 times"):
        extract_archive(path, tmp_path / "out")


def test_the_total_and_the_number_of_files_are_limited(make: Make, tmp_path: Path) -> None:
    path = make({f"{index}.txt": b"1234567890" for index in range(20)})

    with pytest.raises(TooLarge, match="at most 100 are unpacked"):
        extract_archive(path, tmp_path / "a", limits=Limits(total_bytes=100))
    with pytest.raises(TooLarge, match="has 23 files; at most 10"):
        extract_archive(path, tmp_path / "b", limits=Limits(files=10))


def test_a_member_that_lies_about_its_size_is_refused(make: Make, tmp_path: Path) -> None:
    path = make({"big.bin": bytes(range(256)) * 64})
    content = path.read_bytes()
    path.write_bytes(content.replace((256 * 64).to_bytes(4, "little"), (16).to_bytes(4, "little")))

    with pytest.raises(InvalidInput, match=r"damaged|declares"):
        extract_archive(path, tmp_path / "out")


def test_without_a_manifest_it_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "m.mar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.pt", "x")

    with pytest.raises(InvalidInput, match=r"has no MAR-INF/MANIFEST.json; it holds model.pt"):
        extract_archive(path, tmp_path / "out")


def test_a_handler_that_is_named_but_absent_is_told(make: Make, tmp_path: Path) -> None:
    path = make(model=MODEL | {"handler": "gone.py"})

    with pytest.raises(InvalidInput, match=r"names gone.py as handler, but has no such file"):
        extract_archive(path, tmp_path / "out")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"not an archive", b"\x1f\x8b cut"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.mar"
    path.write_bytes(content)

    assert not is_archive(path)
    with pytest.raises(InvalidInput, match=r"neither a zip|damaged"):
        extract_archive(path, tmp_path / "out")


def test_a_cut_off_archive_is_damaged(make: Make, tmp_path: Path) -> None:
    path = make({"big.bin": bytes(range(256)) * 4000})
    content = path.read_bytes()
    path.write_bytes(content[:200] + content[-200:])

    with pytest.raises(InvalidInput, match="damaged"):
        extract_archive(path, tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is not JSON"),
        ("[]", "must hold a JSON object, not a list"),
        ("{}", "has no `model` section"),
        ('{"model": {"modelName": "m"}}', "must give `model.modelName` and `model.handler`"),
        ('{"model": {"modelName": "a b", "handler": "h.py"}}', "cannot be the name"),
        ('{"model": {"modelName": "m", "handler": "../h.py"}}', "names '../h.py' as handler"),
        ('{"model": {"modelName": "m", "handler": "h.py", "modelFile": "/etc/x"}}', "names '/etc/x' as modelFile"),
        ('{"runtime": "LSP", "model": {"modelName": "m", "handler": "h"}}', "for the runtime 'LSP'"),
    ],
)
def test_a_bad_manifest_is_refused_with_the_reason(text: str, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        parse_manifest(text, "m.mar")


@given(st.text(max_size=200))
def test_any_text_is_a_manifest_or_a_refusal(text: str) -> None:
    try:
        manifest = parse_manifest(text, "m.mar")
    except InvalidInput:
        return

    assert isinstance(manifest, Manifest)


@pytest.mark.parametrize(
    ("handler", "file", "function"),
    [
        ("image_classifier", None, None),
        ("h.py", "h.py", None),
        ("h", "h.py", None),
        ("h.py:run", "h.py", "run"),
        ("h:run", "h.py", "run"),
    ],
)
def test_a_handler_is_a_built_in_a_file_or_a_function_of_a_file(
    handler: str, file: str | None, function: str | None
) -> None:
    manifest = Manifest(name="m", version="1", handler=handler)

    assert (manifest.handler_file, manifest.handler_function) == (file, function)


def test_an_unpacked_folder_is_read_in_place(make: Make, tmp_path: Path) -> None:
    extract_archive(make(), tmp_path / "out")

    assert read_manifest(tmp_path / "out", "out").raw["model"] == MODEL
