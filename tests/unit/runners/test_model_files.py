"""A trained model on its way from the master to a node: what is packed there is unpacked here, whole or not at all."""

import http.server
import io
import tarfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from resolute.domain.errors import Unavailable
from resolute.runners.shepherd.master_link import MasterLink
from resolute.runners.shepherd.model_files import unpack_model
from resolute.server.archives import path_chunks

FILES = {"model.bin": b"\0" * 3_000_000, "config/labels.json": b"{}", "empty": b""}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "served" / "c0ffee"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def unpacked(tmp_path: Path) -> Callable[[bytes], Path]:
    def unpack(content: bytes) -> Path:
        unpack_model(io.BytesIO(content), tmp_path / "node" / "model")
        return tmp_path / "node" / "model"

    (tmp_path / "node").mkdir()
    return unpack


def read(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_arrives_under_its_name(model: Path, unpacked: Callable[[bytes], Path]) -> None:
    folder = unpacked(b"".join(path_chunks(model)))

    assert read(folder) == {f"c0ffee/{name}": content for name, content in FILES.items()}


def test_a_file_arrives_under_its_name(model: Path, unpacked: Callable[[bytes], Path]) -> None:
    folder = unpacked(b"".join(path_chunks(model / "model.bin")))

    assert read(folder) == {"model.bin": FILES["model.bin"]}


def test_another_try_leaves_nothing_of_the_one_before(model: Path, unpacked: Callable[[bytes], Path]) -> None:
    whole = b"".join(path_chunks(model))
    with pytest.raises(Unavailable, match="arrived damaged"):
        unpacked(whole[:1_000_000])

    folder = unpacked(b"".join(path_chunks(model / "config")))

    assert list(read(folder)) == ["config/labels.json"]


@pytest.mark.parametrize("cut", [1, 511, 513, 700, 3_000_100])
def test_what_is_cut_off_is_no_model(model: Path, unpacked: Callable[[bytes], Path], cut: int) -> None:
    with pytest.raises(Unavailable, match="arrived damaged"):
        unpacked(b"".join(path_chunks(model))[:cut])


@pytest.mark.parametrize("name", ["../outside", "a/../../outside"])
def test_nothing_is_written_outside_the_folder(tmp_path: Path, unpacked: Callable[[bytes], Path], name: str) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b"x"))

    with pytest.raises(Unavailable, match="arrived damaged"):
        unpacked(buffer.getvalue())

    assert not list(tmp_path.rglob("outside"))


def test_a_download_that_breaks_off_is_told_from_one_that_ended(
    model: Path, unpacked: Callable[[bytes], Path], tmp_path: Path
) -> None:
    """The second answer of the master is whole."""
    content = b"".join(path_chunks(model))
    answers = [content[:20_000], content]

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            part = answers.pop(0)
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            if part is content:
                self.wfile.write(b"0\r\n\r\n")
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        link = MasterLink({"DET_MASTER": f"http://127.0.0.1:{server.server_address[1]}", "DET_SESSION_TOKEN": "t"})
        unpack = partial(unpack_model, folder=tmp_path / "node" / "model")
        with pytest.raises(Unavailable):
            link.download("/model", unpack)
        link.download("/model", unpack)
        server.shutdown()
        thread.join()

    assert read(tmp_path / "node" / "model") == {f"c0ffee/{name}": each for name, each in FILES.items()}
