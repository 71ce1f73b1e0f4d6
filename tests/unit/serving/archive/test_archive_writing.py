"""Archives are what torch-model-archiver would have made."""

import json
import os
import subprocess
import tarfile
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from resolute.domain.errors import AlreadyExists, InvalidInput
from resolute.serving.archive import ArchiveFormat, ArchiveParts, write_archive

NOON = datetime(2026, 3, 4, 12, 0, 5)  # noqa: DTZ001 - archives carry local time
ARCHIVER = os.environ.get("RESOLUTE_MODEL_ARCHIVER")
"""Path of torch-model-archiver 0.12: when it is set, archives are compared with its own."""
GOLDEN_MEMBERS = {
    "trained_model_stripped.pth",
    "model-xview.py",
    "fasterrcnn_handler.py",
    "index_to_name.json",
    "MAR-INF/MANIFEST.json",
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "parts"
    (folder / "more/deep").mkdir(parents=True)
    (folder / "more/__pycache__").mkdir()
    contents = {
        "model-xview.py": "class M: ...\n",
        "trained_model_stripped.pth": "weights" * 100,
        "fasterrcnn_handler.py": "def handle(data, context): ...\n",
        "index_to_name.json": '{"0": "a"}',
        "requirements.txt": "numpy\n",
        "model-config.yaml": "batchSize: 4\n",
        "more/a.txt": "a",
        "more/deep/b.txt": "b",
        "more/__pycache__/c.pyc": "c",
    }
    for name, text in contents.items():
        (folder / name).write_text(text)
    return folder


def _parts(files: Path, **changes: object) -> ArchiveParts:
    given: dict[str, object] = {
        "name": "xview-fasterrcnn",
        "version": "1.0",
        "handler": str(files / "fasterrcnn_handler.py"),
        "model_file": files / "model-xview.py",
        "serialized_file": files / "trained_model_stripped.pth",
        "extra_files": str(files / "index_to_name.json"),
    }
    return ArchiveParts(**(given | changes))  # type: ignore[arg-type]


def _content(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        return {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    with tarfile.open(path) as archive:
        return {info.name: archive.extractfile(info).read() for info in archive}  # type: ignore[union-attr]


def test_members_and_manifest_are_those_of_the_archiver(files: Path, tmp_path: Path) -> None:
    path = write_archive(_parts(files), tmp_path, now=NOON)

    assert path == tmp_path / "xview-fasterrcnn.mar"
    content = _content(path)
    assert set(content) == GOLDEN_MEMBERS
    assert json.loads(content["MAR-INF/MANIFEST.json"]) == {
        "createdOn": "04/03/2026 12:00:05",
        "runtime": "python",
        "model": {
            "modelName": "xview-fasterrcnn",
            "serializedFile": "trained_model_stripped.pth",
            "handler": "fasterrcnn_handler.py",
            "modelFile": "model-xview.py",
            "modelVersion": "1.0",
        },
        "archiverVersion": "0.12.0",
    }


def test_a_built_in_handler_is_named_and_not_packed(files: Path, tmp_path: Path) -> None:
    path = write_archive(_parts(files, handler="object_detector"), tmp_path, now=NOON)

    content = _content(path)
    assert "fasterrcnn_handler.py" not in content
    assert json.loads(content["MAR-INF/MANIFEST.json"])["model"]["handler"] == "object_detector"


def test_requirements_and_configuration_are_packed_and_named(files: Path, tmp_path: Path) -> None:
    parts = _parts(files, requirements_file=files / "requirements.txt", config_file=files / "model-config.yaml")

    content = _content(write_archive(parts, tmp_path, now=NOON))

    model = json.loads(content["MAR-INF/MANIFEST.json"])["model"]
    assert (model["requirementsFile"], model["configFile"]) == ("requirements.txt", "model-config.yaml")
    assert {"requirements.txt", "model-config.yaml"} <= set(content)


def test_of_a_folder_among_the_extra_files_the_content_is_packed(files: Path, tmp_path: Path) -> None:
    parts = _parts(files, extra_files=f"{files / 'index_to_name.json'}, {files / 'more'}")

    content = _content(write_archive(parts, tmp_path, now=NOON))

    assert content["a.txt"] == b"a"
    assert content["deep/b.txt"] == b"b"
    assert not any("__pycache__" in name for name in content)


def test_wildcards_among_the_extra_files_are_filled_in(files: Path, tmp_path: Path) -> None:
    content = _content(write_archive(_parts(files, extra_files=f"{files}/*.json"), tmp_path, now=NOON))

    assert "index_to_name.json" in content


@pytest.mark.parametrize(
    ("archive_format", "name", "prefix"),
    [
        (ArchiveFormat.DEFAULT, "xview-fasterrcnn.mar", ""),
        (ArchiveFormat.ZIP_STORE, "xview-fasterrcnn.mar", ""),
        (ArchiveFormat.TGZ, "xview-fasterrcnn.tar.gz", "xview-fasterrcnn/"),
        (ArchiveFormat.NO_ARCHIVE, "xview-fasterrcnn", ""),
    ],
)
def test_every_format_holds_the_same_files(
    files: Path, tmp_path: Path, archive_format: ArchiveFormat, name: str, prefix: str
) -> None:
    path = write_archive(_parts(files), tmp_path, now=NOON, archive_format=archive_format)

    assert path.name == name
    assert set(_content(path)) == {f"{prefix}{member}" for member in GOLDEN_MEMBERS}


def test_only_the_stored_format_is_not_compressed(files: Path, tmp_path: Path) -> None:
    stored = write_archive(_parts(files), tmp_path, now=NOON, archive_format=ArchiveFormat.ZIP_STORE)

    with zipfile.ZipFile(stored) as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}


@pytest.mark.parametrize("archive_format", list(ArchiveFormat))
def test_what_is_there_is_replaced_by_force_only(files: Path, tmp_path: Path, archive_format: ArchiveFormat) -> None:
    path = write_archive(_parts(files), tmp_path, now=NOON, archive_format=archive_format)

    with pytest.raises(AlreadyExists, match="--force"):
        write_archive(_parts(files), tmp_path, now=NOON, archive_format=archive_format)

    again = write_archive(_parts(files, version="2.0"), tmp_path, now=NOON, archive_format=archive_format, force=True)
    manifest = next(text for name, text in _content(again).items() if name.endswith("MANIFEST.json"))
    assert again == path
    assert json.loads(manifest)["model"]["modelVersion"] == "2.0"


@pytest.mark.parametrize("name", ["", "-x", "a b", "../x", "a/b", ".hidden", "ä", "x\n"])
def test_bad_names_are_refused(files: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be the name of a model"):
        write_archive(_parts(files, name=name), tmp_path, now=NOON)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model_file": Path("/nowhere/model.py")}, "--model-file /nowhere/model.py: there is no such file"),
        ({"serialized_file": Path("gone.pth")}, "--serialized-file gone.pth"),
        ({"handler": "image_classifer"}, "Built-in handlers are base_handler, image_classifier"),
        ({"extra_files": "nothing.json"}, "--extra-files nothing.json: there is no such file or folder"),
        ({"extra_files": "no*.json"}, "--extra-files no"),
    ],
)
def test_a_missing_part_is_refused_before_anything_is_written(
    files: Path, tmp_path: Path, changes: dict[str, object], sentence: str
) -> None:
    target = tmp_path / "out"
    target.mkdir()

    with pytest.raises(InvalidInput, match=sentence):
        write_archive(_parts(files, **changes), target, now=NOON)

    assert list(target.iterdir()) == []


def test_the_export_path_must_be_a_folder(files: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not a folder"):
        write_archive(_parts(files), tmp_path / "missing", now=NOON)


@pytest.mark.skipif(ARCHIVER is None, reason="RESOLUTE_MODEL_ARCHIVER does not name torch-model-archiver")
@pytest.mark.parametrize("archive_format", list(ArchiveFormat))
@pytest.mark.parametrize("handler", ["object_detector", "fasterrcnn_handler.py", "fasterrcnn_handler:handle"])
def test_the_real_archiver_makes_the_same(
    files: Path, tmp_path: Path, archive_format: ArchiveFormat, handler: str
) -> None:
    handler = handler if handler == "object_detector" else str(files / handler)
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir()
    command = [str(ARCHIVER), "--model-name", "xview-fasterrcnn", "--version", "1.0", "--handler", handler]
    command += ["--model-file", str(files / "model-xview.py"), "--export-path", str(theirs)]
    command += ["--serialized-file", str(files / "trained_model_stripped.pth")]
    command += ["--extra-files", f"{files / 'index_to_name.json'},{files / 'more/deep'}"]
    command += ["--requirements-file", str(files / "requirements.txt"), "--archive-format", archive_format.value]
    command += ["--config-file", str(files / "model-config.yaml")]
    parts = _parts(
        files,
        handler=handler,
        extra_files=f"{files / 'index_to_name.json'},{files / 'more/deep'}",
        requirements_file=files / "requirements.txt",
        config_file=files / "model-config.yaml",
    )

    subprocess.run(command, check=True, capture_output=True, cwd=theirs)
    mine = write_archive(parts, ours, now=NOON, archive_format=archive_format)

    wanted, found = _content(theirs / mine.name), _content(mine)
    manifest = next(name for name in wanted if name.endswith("MANIFEST.json"))
    first, second = json.loads(wanted.pop(manifest)), json.loads(found.pop(manifest))
    assert list(first) == list(second)
    assert list(first["model"]) == list(second["model"])
    assert first | {"createdOn": ""} == second | {"createdOn": ""}
    assert wanted == found
