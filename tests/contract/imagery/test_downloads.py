"""One file from the web: what comes is whole, what breaks off goes on, and refusals are sentences without secrets."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from resolute.domain.errors import Forbidden, InvalidInput, NotFound, Unavailable
from resolute.imagery.links import download, expires_at

CONTENT = bytes(range(256)) * 40
SECRET = "Signature=abc~secret"
Serve = Callable[..., str]


class _Handler(BaseHTTPRequestHandler):
    """Answers as the server's `script` says; ranges are honoured when the mark still fits."""

    server: Any

    def do_GET(self) -> None:
        script = self.server.script
        self.server.asked.append(self.headers)
        etag, content = script.get("etag", '"one"'), script.get("content", CONTENT)
        begin = 0
        if "Range" in self.headers and self.headers.get("If-Range") == etag:
            begin = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
        self.send_response(script.get("status", 206 if begin else 200))
        self.send_header("Content-Type", script.get("kind", "application/gzip"))
        self.send_header("Content-Length", str(len(content) - begin))
        if etag:
            self.send_header("ETag", etag)
        self.end_headers()
        cut = script.pop("cut", len(content))
        self.wfile.write(content[begin:cut])

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[Any]:
    running = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    running.script, running.asked = {}, []  # type: ignore[attr-defined]
    thread = Thread(target=running.serve_forever)
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def _address(server: Any, query: str = SECRET) -> str:
    return f"http://127.0.0.1:{server.server_port}/data/train_images.tgz?{query}"


def _get(server: Any, folder: Path, query: str = SECRET) -> Any:
    return download(_address(server, query), folder, pause=lambda _: None)


def test_a_file_arrives_under_its_name(server: Any, tmp_path: Path) -> None:
    seen: list[int] = []

    done = download(_address(server), tmp_path / "new", on_progress=seen.append)

    assert done.path == tmp_path / "new" / "train_images.tgz"
    assert done.path.read_bytes() == CONTENT
    assert sum(seen) == done.size == done.moved_bytes == len(CONTENT)
    assert [path.name for path in done.path.parent.iterdir()] == ["train_images.tgz"]


def test_what_is_there_is_not_fetched_again(server: Any, tmp_path: Path) -> None:
    _get(server, tmp_path)

    again = _get(server, tmp_path)

    assert (again.size, again.moved_bytes) == (len(CONTENT), 0)


def test_a_download_that_breaks_off_goes_on_where_it_was(server: Any, tmp_path: Path) -> None:
    server.script["cut"] = 5000

    done = _get(server, tmp_path)

    assert done.path.read_bytes() == CONTENT
    assert done.moved_bytes == len(CONTENT)
    assert server.asked[1]["Range"] == "bytes=5000-"


def test_a_file_that_changed_meanwhile_is_fetched_from_the_start(server: Any, tmp_path: Path) -> None:
    (tmp_path / "train_images.tgz.part").write_bytes(b"of the old one")
    (tmp_path / "train_images.tgz.part.etag").write_text('"old"')

    done = _get(server, tmp_path)

    assert done.path.read_bytes() == CONTENT


def test_without_a_mark_nothing_is_glued_on(server: Any, tmp_path: Path) -> None:
    server.script |= {"etag": "", "cut": 5000}

    done = _get(server, tmp_path)

    assert "Range" not in server.asked[1]
    assert done.path.read_bytes() == CONTENT


def test_an_expired_link_is_refused_with_its_date_and_without_its_signature(server: Any, tmp_path: Path) -> None:
    server.script["status"] = 403

    with pytest.raises(Forbidden) as refused:
        _get(server, tmp_path, f"Expires=1680923794&{SECRET}")

    assert "the link expired on 2023-04-08 at 03:16 UTC. Get a new link" in str(refused.value)
    assert "/data/train_images.tgz" in str(refused.value)
    assert "secret" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("script", "query", "error", "sentence"),
    [
        ({"status": 403}, SECRET, Forbidden, "may have expired, or needs a login"),
        ({"status": 403}, "Expires=9999999999", Forbidden, "Put it in quotes: a shell cuts it at &"),
        ({"status": 410}, SECRET, Forbidden, "may have expired"),
        ({"status": 404}, SECRET, NotFound, "There is nothing at"),
        ({"status": 503}, SECRET, Unavailable, "status 503. Try again later"),
        ({"kind": "text/html; charset=utf-8"}, SECRET, InvalidInput, "a web page instead of a file"),
    ],
)
def test_a_refusal_is_a_sentence(
    server: Any, tmp_path: Path, script: dict[str, Any], query: str, error: type[Exception], sentence: str
) -> None:
    server.script |= script

    with pytest.raises(error, match=sentence):
        _get(server, tmp_path, query)


def test_a_server_that_is_not_there_is_tried_with_longer_pauses(tmp_path: Path) -> None:
    pauses: list[float] = []

    with pytest.raises(Unavailable, match=r"broke off 5 times: .*refused.*Run it again"):
        download("http://127.0.0.1:9/labels.tgz", tmp_path, pause=pauses.append)

    assert pauses == [1, 2, 4, 8]


@pytest.mark.parametrize("url", ["https://example.org", "https://example.org/", "https:///x.tgz", "http://[::1/x"])
def test_an_address_without_a_file_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        download(url, tmp_path)


@pytest.mark.parametrize(
    ("query", "until"),
    [
        ("Expires=1680923794&Signature=x", datetime(2023, 4, 8, 3, 16, 34, tzinfo=UTC)),
        ("X-Amz-Date=20240102T030405Z&X-Amz-Expires=60", datetime(2024, 1, 2, 3, 5, 5, tzinfo=UTC)),
        ("X-Goog-Date=20240102T030405Z&X-Goog-Expires=60", datetime(2024, 1, 2, 3, 5, 5, tzinfo=UTC)),
        ("sv=1&se=2024-01-02T03%3A04%3A05Z", datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("Expires=soon", None),
        ("X-Amz-Expires=60", None),
        ("Expires=99999999999999999999", None),
        ("", None),
    ],
)
def test_signed_links_say_until_when_they_are_good(query: str, until: datetime | None) -> None:
    assert expires_at(f"https://example.org/a.tgz?{query}") == until
