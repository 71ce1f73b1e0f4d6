"""What is kept of datasets in memory: the most recent, within bounds, and read once."""

import hashlib
import io
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from PIL import Image

from resolute.domain.dataset import DatasetFile, DatasetVersion
from resolute.domain.errors import InvalidInput, NotFound, NotSupported, TooLarge
from resolute.server.dataset_reader import DatasetReader, Kept
from resolute.server.thumbnails import thumbnail


def counted(weight: int, made: list[str], key: str) -> Callable[[], tuple[str, int]]:
    def make() -> tuple[str, int]:
        made.append(key)
        return key.upper(), weight

    return make


def test_a_value_is_made_once() -> None:
    kept: Kept[str] = Kept(10)
    made: list[str] = []

    values = [kept.get("a", counted(1, made, "a")) for _ in range(3)]

    assert (values, made) == (["A"] * 3, ["a"])


def test_the_least_recently_used_goes_first() -> None:
    kept: Kept[str] = Kept(10)
    made: list[str] = []

    for key in ("a", "b", "a", "c", "a", "b"):
        kept.get(key, counted(5, made, key))

    assert made == ["a", "b", "c", "b"]


def test_one_that_is_larger_than_the_room_is_kept_alone() -> None:
    kept: Kept[str] = Kept(10)
    made: list[str] = []

    for key in ("a", "big", "big", "a"):
        kept.get(key, counted(99 if key == "big" else 1, made, key))

    assert made == ["a", "big", "a"]


def test_a_failure_is_not_kept() -> None:
    kept: Kept[str] = Kept(10)

    def fail() -> tuple[str, int]:
        raise NotFound("away")

    with pytest.raises(NotFound):
        kept.get("a", fail)
    assert kept.get("a", lambda: ("A", 1)) == "A"


TEXT = json.dumps({"images": [{"id": 1, "file_name": "a", "width": 1, "height": 1}]}).encode()


def dataset(label_size: int = len(TEXT)) -> tuple[DatasetReader, DatasetVersion]:
    """A reader that knows the manifest already, so that nothing else is asked."""
    version = DatasetVersion(
        id=1,
        name="d",
        version=1,
        content_hash="h",
        uri="/x",
        annotations=("train.json",),
        images=("",),
        manifest_id="m",
        file_count=1,
        size=1,
        user_id=1,
        workspace_id=1,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    reader = DatasetReader()
    file = DatasetFile("train.json", label_size, hashlib.sha256(TEXT).hexdigest())
    reader._manifests.get("m", lambda: ({file.path: file}, 1))
    return reader, version


def test_label_files_beyond_the_limit_are_refused_unread() -> None:
    reader, version = dataset(label_size=2 << 30)

    with pytest.raises(TooLarge, match=r"train\.json has 2048 MiB"):
        reader.labels(None, version, 0)  # type: ignore[arg-type]


def picture(size: tuple[int, int], mode: str = "RGB", kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new(mode, size).save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "size"),
    [
        (picture((200, 100)), (64, 32)),
        (picture((20, 10)), (20, 10)),
        (picture((200, 100), "RGBA"), (64, 32)),
        (picture((200, 100), "L", "TIFF"), (64, 32)),
        (picture((100, 200), "P", "GIF"), (32, 64)),
    ],
)
def test_thumbnails_are_small_jpegs_of_any_picture(content: bytes, size: tuple[int, int]) -> None:
    small = Image.open(io.BytesIO(thumbnail(content, 64, place="x")))

    assert (small.size, small.format, small.mode) == (size, "JPEG", "RGB")


@pytest.mark.parametrize(("content", "side"), [(b"text", 64), (picture((9, 9))[:40], 64), (picture((9, 9)), 8)])
def test_what_is_no_picture_or_no_size_is_refused(content: bytes, side: int) -> None:
    with pytest.raises(InvalidInput):
        thumbnail(content, side, place="x")


def test_without_pillow_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)

    with pytest.raises(NotSupported, match="pip install"):
        thumbnail(b"", 64, place="x")
