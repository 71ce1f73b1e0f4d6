"""`engine.ports.blobs.Blobs`, in a local folder and in a real S3 server."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.errors import InvalidInput, NotFound, Unavailable
from resolute.engine.ports.blobs import Blobs
from resolute.store.blobs import open_blobs

LARGE = bytes(range(256)) * 4096 * 24  # 24 MiB: several chunks, and several parts of a multipart upload


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A checkpoint as training writes it."""
    folder = tmp_path / "source"
    (folder / "model").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "metadata.json").write_bytes(b"{}")
    (folder / "model" / "weights.bin").write_bytes(LARGE)
    (folder / "model" / "a name with späces & 100%.txt").write_bytes(b"text")
    (folder / "nothing").write_bytes(b"")
    return folder


SIZES = {
    "metadata.json": 2,
    "model/a name with späces & 100%.txt": 4,
    "model/weights.bin": len(LARGE),
    "nothing": 0,
}


class TestBlobs:
    def test_what_is_uploaded_is_listed_with_sizes(self, blobs: Blobs, source: Path) -> None:
        returned = blobs.upload("u1", source)

        assert returned == SIZES
        assert blobs.files("u1") == SIZES

    def test_it_downloads_byte_for_byte(self, blobs: Blobs, source: Path, tmp_path: Path) -> None:
        blobs.upload("u1", source)

        blobs.download("u1", tmp_path / "target")

        for name in SIZES:
            assert (tmp_path / "target" / name).read_bytes() == (source / name).read_bytes()
        assert not list((tmp_path / "target").rglob("*.partial"))

    def test_only_the_named_files_move(self, blobs: Blobs, source: Path, tmp_path: Path) -> None:
        assert blobs.upload("u1", source, ["metadata.json", "nothing", "empty/"]) == {"metadata.json": 2, "nothing": 0}

        blobs.download("u1", tmp_path / "target", ["nothing", "empty/"])

        assert [path.name for path in (tmp_path / "target").iterdir()] == ["nothing"]

    def test_reading_gives_the_bytes_in_chunks(self, blobs: Blobs, source: Path) -> None:
        blobs.upload("u1", source)

        chunks = list(blobs.read("u1", "model/weights.bin"))

        assert b"".join(chunks) == LARGE
        assert len(chunks) > 1

    def test_the_digest_is_that_of_the_stored_bytes(self, blobs: Blobs) -> None:
        blobs.write("u1", "f", b"content")

        assert blobs.digest("u1", "f") == hashlib.sha256(b"content").hexdigest()

    def test_writing_again_replaces(self, blobs: Blobs) -> None:
        blobs.write("u1", "f", b"before")
        blobs.write("u1", "f", b"now")

        assert b"".join(blobs.read("u1", "f")) == b"now"
        assert blobs.files("u1") == {"f": 3}

    def test_checkpoints_do_not_see_one_another(self, blobs: Blobs) -> None:
        blobs.write("u1", "f", b"1")
        blobs.write("u10", "f", b"10")

        assert blobs.files("u1") == {"f": 1}
        assert blobs.remove("u1") == {}
        assert blobs.files("u10") == {"f": 2}

    def test_nothing_is_an_empty_list(self, blobs: Blobs) -> None:
        assert blobs.files("nobody") == {}
        assert blobs.remove("nobody") == {}

    def test_what_is_missing_is_not_found(self, blobs: Blobs, source: Path, tmp_path: Path) -> None:
        blobs.write("u1", "f", b"1")

        with pytest.raises(NotFound, match="u1/g is not in"):
            blobs.read("u1", "g")
        with pytest.raises(NotFound, match="u1/g is not in"):
            blobs.digest("u1", "g")
        with pytest.raises(NotFound, match="u1/g is not in"):
            blobs.download("u1", tmp_path / "target", ["f", "g"])
        with pytest.raises(NotFound, match="Checkpoint u2 has no files"):
            blobs.download("u2", tmp_path / "target")
        with pytest.raises(NotFound, match="no file 'absent'"):
            blobs.upload("u1", source, ["absent"])

    @pytest.mark.parametrize(
        ("globs", "left"),
        [
            (["**/*"], []),
            (["*"], []),
            (["*.txt"], ["d/b.txt", "d/e/c.bin"]),
            (["**/*.txt"], ["d/e/c.bin"]),
            (["d/*.txt"], ["a.txt", "d/e/c.bin"]),
            (["d"], ["a.txt"]),
            (["d/e/"], ["a.txt", "d/b.txt"]),
            (["?.txt", "**/c.*"], ["d/b.txt"]),
            (["[!x].txt"], ["d/b.txt", "d/e/c.bin"]),
            (["nothing"], ["a.txt", "d/b.txt", "d/e/c.bin"]),
        ],
    )
    def test_removing_takes_what_the_patterns_mean_and_tells_the_rest(
        self, blobs: Blobs, globs: list[str], left: list[str]
    ) -> None:
        for name in ("a.txt", "d/b.txt", "d/e/c.bin"):
            blobs.write("u1", name, b"1")

        # `*` means the folder `d` as well, and with it all that is inside.
        assert blobs.remove("u1", globs) == dict.fromkeys(left, 1)
        assert blobs.files("u1") == dict.fromkeys(left, 1)

    @pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", "a//b", "./a", "a\\b", "a\0b", "x#1"])
    def test_paths_that_lead_elsewhere_are_refused(self, blobs: Blobs, path: str, tmp_path: Path) -> None:
        for act in (
            lambda: blobs.write("u1", path, b""),
            lambda: blobs.read("u1", path),
            lambda: blobs.upload("u1", tmp_path, [path]),
            lambda: blobs.download("u1", tmp_path, [path]),
        ):
            with pytest.raises(InvalidInput):
                act()

    @pytest.mark.parametrize("uuid", ["", "..", "a/b", "/a", ".hidden"])
    def test_ids_that_are_no_single_name_are_refused(self, blobs: Blobs, uuid: str) -> None:
        with pytest.raises(InvalidInput, match="is no checkpoint id"):
            blobs.files(uuid)


class TestLocalFolders:
    def test_files_lie_where_people_expect_them(self, tmp_path: Path) -> None:
        blobs = open_blobs({"type": "shared_fs", "host_path": str(tmp_path), "storage_path": "checkpoints"})

        blobs.write("u1", "d/f", b"1")

        assert (tmp_path / "checkpoints" / "u1" / "d" / "f").read_bytes() == b"1"

    def test_no_empty_folders_are_left_behind(self, tmp_path: Path) -> None:
        blobs = open_blobs({"type": "directory", "container_path": str(tmp_path / "c")})
        blobs.write("u1", "d/e/f", b"1")

        blobs.remove("u1")

        assert list((tmp_path / "c").iterdir()) == []

    def test_a_failed_download_leaves_no_half_file(self, tmp_path: Path) -> None:
        blobs = open_blobs({"type": "directory", "container_path": str(tmp_path / "c")})
        blobs.write("u1", "f", b"1")

        with pytest.raises(NotFound):
            blobs.download("u1", tmp_path / "t", ["missing"])

        assert [path.name for path in (tmp_path / "t").iterdir() if path.name == "missing"] == []


class TestS3:
    def test_a_wrong_secret_is_reported_as_such(self, s3_endpoint: str) -> None:
        blobs = open_blobs(
            {
                "type": "s3",
                "bucket": "contract",
                "endpoint_url": s3_endpoint,
                "access_key": "contract",
                "secret_key": "wrong",
            }
        )

        with pytest.raises(Unavailable, match=r"s3://contract/.*Check the keys"):
            blobs.write("u1", "f", b"1")


class TestSections:
    @pytest.mark.parametrize(
        ("section", "message"),
        [
            ({}, "checkpoint_storage.type is None. Use one of: shared_fs, directory, s3, gcs, azure."),
            ({"type": "hdfs"}, "checkpoint_storage.type is 'hdfs'"),
            ({"type": "shared_fs"}, "needs the key 'host_path'"),
            ({"type": "directory"}, "needs the key 'container_path'"),
            ({"type": "directory", "container_path": "relative"}, "Write an absolute path"),
            ({"type": "shared_fs", "host_path": "/a", "storage_path": "../b"}, "is outside of host_path"),
            ({"type": "shared_fs", "host_path": "/a", "storage_path": "/b"}, "is outside of host_path"),
            ({"type": "shared_fs", "host_path": "/proc/nowhere"}, "cannot be used"),
            ({"type": "s3"}, "needs the key 'bucket'"),
            ({"type": "s3", "bucket": "b", "access_key": "k"}, "needs the key 'secret_key'"),
            ({"type": "gcs"}, "needs the key 'bucket'"),
            ({"type": "azure"}, "needs the key 'container'"),
        ],
    )
    def test_a_section_that_describes_no_store_is_refused(self, section: dict[str, Any], message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            open_blobs(section)

        assert message in str(caught.value)

    @pytest.mark.parametrize(
        "section",
        [
            {"type": "gcs", "bucket": "b", "prefix": "p"},
            {
                "type": "azure",
                "container": "c",
                "connection_string": "AccountName=a;AccountKey=a2V5;BlobEndpoint=http://x",
            },
            {"type": "azure", "container": "c", "account_url": "https://a.blob.core.windows.net", "credential": "a2V5"},
        ],
    )
    def test_other_clouds_are_opened_without_a_connection(self, section: dict[str, Any]) -> None:
        assert open_blobs(section) is not None
