"""Packing a model definition: what goes, in which form, and when it is too much."""

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from resolute.client import context
from resolute.client.context import LIMIT, pack
from resolute.domain.errors import InvalidInput, TooLarge


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "train.py").write_text("print('hello')\n")
    return folder


def paths(files: list[dict[str, Any]]) -> list[str]:
    return [file["path"] for file in files]


def test_a_file_travels_with_its_content_mode_and_time(model: Path) -> None:
    os.utime(model / "train.py", (1_700_000_000, 1_700_000_000))
    (model / "train.py").chmod(0o644)

    [file] = pack(model)

    assert file == {
        "path": "train.py",
        "type": 48,
        "content": base64.b64encode(b"print('hello')\n").decode(),
        "mtime": "1700000000",
        "mode": 33188,
        "uid": 0,
        "gid": 0,
    }


def test_folders_come_before_what_is_in_them(model: Path) -> None:
    (model / "pkg" / "deep").mkdir(parents=True)
    (model / "pkg" / "deep" / "a.py").write_text("")

    files = pack(model)

    assert paths(files) == ["pkg", "pkg/deep", "pkg/deep/a.py", "train.py"]
    assert (files[0]["type"], files[0]["content"]) == (53, "")


def test_what_nobody_wants_to_send_stays_here(model: Path) -> None:
    for name in (".git/config", "__pycache__/x.pyc", ".vscode/s.json", "shared_fs/big", "sub/__pycache__/y.pyc"):
        (model / name).parent.mkdir(parents=True, exist_ok=True)
        (model / name).write_text("")
    (model / "terraform.tfstate").write_text("")

    assert paths(pack(model)) == ["sub", "train.py"]


@pytest.mark.parametrize("name", [".detignore", ".resoluteignore"])
def test_an_ignore_file_has_gitignores_syntax(model: Path, name: str) -> None:
    (model / name).write_text("data/\n*.bin\n!keep.bin\n")
    (model / "data").mkdir()
    (model / "data" / "x.csv").write_text("")
    (model / "drop.bin").write_text("")
    (model / "keep.bin").write_text("")

    assert paths(pack(model)) == [name, "keep.bin", "train.py"]


def test_one_file_can_be_the_whole_model_definition(model: Path) -> None:
    assert paths(pack(model / "train.py")) == ["train.py"]


def test_included_folders_keep_their_name(model: Path, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "tool.py").write_text("")

    assert paths(pack(model, [tmp_path / "lib"])) == ["train.py", "lib", "lib/tool.py"]


def test_two_files_of_one_name_are_refused(model: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("other")

    with pytest.raises(InvalidInput, match=r"would both become train\.py"):
        pack(model, [tmp_path / "train.py"])


def test_a_link_to_a_file_is_read_through_and_one_to_a_folder_is_not_followed(model: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_text("deep")
    (model / "file_link").symlink_to(tmp_path / "outside" / "x")
    (model / "folder_link").symlink_to(tmp_path / "outside")
    (model / "dead_link").symlink_to(tmp_path / "nowhere")

    files = {file["path"]: file for file in pack(model)}

    assert set(files) == {"file_link", "folder_link", "train.py"}
    assert base64.b64decode(files["file_link"]["content"]) == b"deep"


def test_too_much_is_refused_before_it_is_read_naming_the_largest(model: Path) -> None:
    for name, size in (("weights.pt", LIMIT), ("small.csv", 2 * 1024**2)):
        with (model / name).open("wb") as file:
            file.truncate(size)  # sparse: takes no disk

    with pytest.raises(TooLarge, match=r"97\.0 MiB; 95\.0 MiB.*weights\.pt \(95\.0 MiB\), small\.csv.*\.detignore"):
        pack(model)


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"nothing cannot be read: No such file"):
        pack(tmp_path / "nothing")


def test_without_a_folder_nothing_is_sent() -> None:
    assert pack(None) == []
    assert context.LIMIT == 99_614_720
