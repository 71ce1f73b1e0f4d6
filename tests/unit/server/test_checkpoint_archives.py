"""Archives made while they are sent: whole, readable by the standard tools, never a whole file in memory."""

import io
import tarfile
import zipfile
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from resolute.server.archives import tar_chunks, tar_gz_chunks, zip_chunks

names = st.text(alphabet="abcäöü-_. 0123456789", min_size=1, max_size=20).filter(lambda name: name.strip(". ") != "")
contents = st.dictionaries(names, st.binary(max_size=2000), max_size=4)


class Stored:
    """Files in memory, read in small pieces."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files
        self.largest_read = 0

    def read(self, uuid: str, path: str) -> Iterator[bytes]:
        content = self._files[path]
        for start in range(0, len(content), 700):
            yield content[start : start + 700]

    @property
    def sizes(self) -> dict[str, int]:
        return {path: len(content) for path, content in self._files.items()}


@given(contents)
def test_a_tar_gives_back_every_file(files: dict[str, bytes]) -> None:
    stored = Stored(files)

    packed = b"".join(tar_chunks(stored, "u", stored.sizes))  # type: ignore[arg-type]

    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as tar:
        assert {m.name: tar.extractfile(m).read() for m in tar.getmembers()} == files  # type: ignore[union-attr]


@given(contents)
def test_a_tar_gz_gives_back_every_file(files: dict[str, bytes]) -> None:
    stored = Stored(files)

    packed = b"".join(tar_gz_chunks(stored, "u", stored.sizes))  # type: ignore[arg-type]

    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as tar:
        assert {m.name: tar.extractfile(m).read() for m in tar.getmembers()} == files  # type: ignore[union-attr]


@given(contents)
def test_a_zip_gives_back_every_file(files: dict[str, bytes]) -> None:
    stored = Stored(files)

    packed = b"".join(zip_chunks(stored, "u", stored.sizes))  # type: ignore[arg-type]

    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == files


def test_chunks_stay_small_however_large_the_file() -> None:
    stored = Stored({"big.bin": b"x" * 1_000_000})

    for pack in (tar_chunks, tar_gz_chunks, zip_chunks):
        assert max(len(chunk) for chunk in pack(stored, "u", stored.sizes)) < 70_000  # type: ignore[arg-type]
