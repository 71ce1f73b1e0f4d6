"""Pictures and labels in an S3 bucket: found, read one by one without credentials, and explained when they fail."""

import pickle
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse
from xml.sax.saxutils import escape

import pytest
import torch

from resolute.domain.errors import InvalidInput, NotFound
from resolute.vision.data.dataset import CocoDetection
from resolute.vision.settings import read_settings
from resolute.vision.splits import open_splits
from resolute.vision.zoo.weights import read_state

Write = Callable[..., Path]


class Bucket(BaseHTTPRequestHandler):
    """Just enough of S3: list by prefix and delimiter, get."""

    files: dict[str, bytes]

    def do_GET(self) -> None:
        url = urlparse(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        key = unquote(url.path).removeprefix("/tiles").lstrip("/")
        if "list-type" in query:
            self._answer(200, self._listing(query.get("prefix", ""), query.get("delimiter", "")))
        elif key in self.files:
            self._answer(200, self.files[key])
        else:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    def _listing(self, prefix: str, delimiter: str) -> bytes:
        keys, folders = [], set()
        for key in sorted(self.files):
            if not key.startswith(prefix):
                continue
            head, cut, _ = key[len(prefix) :].partition(delimiter or "\0")
            if cut:
                folders.add(prefix + head + delimiter)
            else:
                keys.append(key)
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
            f"<ETag>x</ETag><Size>{len(self.files[key])}</Size></Contents>"
            for key in keys
        )
        common = "".join(
            f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>" for name in sorted(folders)
        )
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{contents}{common}</ListBucketResult>".encode()

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.send_header("ETag", '"x"')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def bucket(write_set: Write, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """Files of the bucket `tiles`; what is added is there."""
    write_set("train", 3)
    root = write_set("val", 2)
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    handler = type("Handler", (Bucket,), {"files": files})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_address[1]}")
    yield files
    server.shutdown()
    server.server_close()
    thread.join()


def opened(**hparams: Any) -> Any:
    settings = read_settings({"backend": "aws", "data_dir": "tiles", **hparams})
    return open_splits(settings, with_masks=False, seed=0)


def test_a_bucket_is_read_like_a_folder(bucket: dict[str, bytes], tmp_path: Path) -> None:
    splits = opened()
    local = open_splits(read_settings({"data_dir": str(tmp_path)}), with_masks=False, seed=0)

    stored = CocoDetection(splits.train, splits.train_source)
    there = CocoDetection(local.train, local.train_source)

    assert len(stored) == len(there) == 3
    assert all(torch.equal(stored[index][0], there[index][0]) for index in range(3))


def test_a_source_travels_to_worker_processes(bucket: dict[str, bytes]) -> None:
    splits = opened()
    splits.train_source.read(splits.train.samples[0])

    copy = pickle.loads(pickle.dumps(splits.train_source))

    assert copy.read(splits.train.samples[1]).shape == (64, 64, 3)


def test_an_object_that_is_gone_is_named(bucket: dict[str, bytes]) -> None:
    splits = opened()
    del bucket["train_images_64_02/1.png"]

    with pytest.raises(NotFound, match=r"nothing at s3://tiles/train_images_64_02/1\.png"):
        CocoDetection(splits.train, splits.train_source)[0]


def test_a_bucket_without_labels_says_so(bucket: dict[str, bytes]) -> None:
    del bucket["val_64_02.json"]

    with pytest.raises(NotFound, match="no label file for val in s3://tiles"):
        opened()


def test_labels_may_lie_on_the_machine_while_pictures_are_in_the_store(
    bucket: dict[str, bytes], tmp_path: Path
) -> None:
    del bucket["train_64_02.json"]

    splits = opened(train_labels=str(tmp_path / "train_64_02.json"), train_images="train_images_64_02")

    assert CocoDetection(splits.train, splits.train_source)[0][0].shape == (3, 64, 64)


def test_images_in_a_store_are_not_tiled_while_training() -> None:
    with pytest.raises(InvalidInput, match="needs backend local"):
        read_settings({"backend": "aws", "data_dir": "tiles", "tile_size": 64})


def test_weights_come_from_a_store_too(
    bucket: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.save({"layer.weight": torch.ones(2)}, tmp_path / "model.pth")
    bucket["weights/model.pth"] = (tmp_path / "model.pth").read_bytes()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    state = read_state("s3://tiles/weights/model.pth")

    assert state["layer.weight"].tolist() == [1, 1]
    with pytest.raises(NotFound, match=r"nothing at s3://tiles/weights/other\.pth"):
        read_state("s3://tiles/weights/other.pth")
