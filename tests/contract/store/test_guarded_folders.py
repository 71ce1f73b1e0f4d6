"""A master opens folders that users name: it follows no link out of them, and shows nothing of its own home."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.errors import NotFound
from resolute.store.blobs import Guard, open_blobs
from resolute.store.blobs.dataset_files import open_dataset_files


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """With a database, a checkpoint, and a stranger's file beside it."""
    home = tmp_path / "srv/home"
    (home / "checkpoints/c1").mkdir(parents=True)
    (home / "checkpoints/c1/w").write_bytes(b"weights")
    (home / "resolute.sqlite3").write_bytes(b"secrets")
    (tmp_path / "root").mkdir()
    (tmp_path / "root/key").write_bytes(b"private")
    return home


def blobs(folder: Path, home: Path) -> Any:
    return open_blobs({"type": "shared_fs", "host_path": str(folder)}, guard=Guard(home))


USES: dict[str, Callable[[Any, str, str], object]] = {
    "read": lambda store, uuid, path: b"".join(store.read(uuid, path)),
    "digest": lambda store, uuid, path: store.digest(uuid, path),
    "list": lambda store, uuid, path: store.files(uuid) if uuid != "c1" else store.read(uuid, path),
    "write": lambda store, uuid, path: store.write(uuid, path, b"x"),
    "remove": lambda store, uuid, path: store.remove(uuid) if uuid != "c1" else store.read(uuid, path),
}


@pytest.mark.parametrize("use", USES)
def test_a_link_is_not_followed_out_of_the_folder(home: Path, tmp_path: Path, use: str) -> None:
    (home / "checkpoints/planted").symlink_to(tmp_path / "root")
    (home / "checkpoints/c1/planted").symlink_to(tmp_path / "root/key")
    store = blobs(home / "checkpoints", home)

    for uuid, path in (("planted", "key"), ("c1", "planted")):
        with pytest.raises(NotFound, match="a link that leads out of it"):
            USES[use](store, uuid, path)
    assert (tmp_path / "root/key").read_bytes() == b"private"


@pytest.mark.parametrize("use", USES)
def test_the_home_is_not_shown_through_the_folder_around_it(home: Path, use: str) -> None:
    with pytest.raises(NotFound, match="part of the master's home"):
        USES[use](blobs(home.parent, home), "home", "resolute.sqlite3")
    assert (home / "resolute.sqlite3").read_bytes() == b"secrets"


def test_checkpoints_are_as_open_as_ever(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "linked"
    elsewhere.symlink_to(home / "checkpoints")

    for folder in (home / "checkpoints", elsewhere):
        assert b"".join(blobs(folder, home).read("c1", "w")) == b"weights"
        assert blobs(folder, home).files("c1") == {"w": 7}


def test_datasets_show_neither_the_home_nor_what_links_lead_to(home: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "planted").symlink_to(tmp_path / "root/key")
    (data / "fine").write_bytes(b"fine")

    assert open_dataset_files(str(data), guard=Guard(home)).read("fine", size=4) == b"fine"
    with pytest.raises(NotFound):
        open_dataset_files(str(data), guard=Guard(home)).read("planted", size=7)
    with pytest.raises(NotFound):
        open_dataset_files(f"file://{home.parent}", guard=Guard(home)).read("home/resolute.sqlite3", size=7)
