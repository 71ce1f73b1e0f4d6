"""The built web UI: its files, its own page for every other path, and nothing from outside."""

import gzip
import os
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def app_options(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "static" / "assets").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    return {"static": tmp_path / "static"}


@pytest.fixture
def built(tmp_path: Path) -> None:
    (tmp_path / "static" / "index.html").write_text("the app")
    (tmp_path / "static" / "assets" / "a.js").write_text("code")
    (tmp_path / "static" / "assets" / "a.js.gz").write_bytes(gzip.compress(b"code"))
    # No brotli decoder is installed here, so what such a form holds can be seen.
    (tmp_path / "static" / "assets" / "a.js.br").write_text("brotli")
    (tmp_path / "static" / "assets" / "letters.woff2").write_text("letters")


def test_without_a_built_ui_the_page_says_how_to_get_it(nobody: Any) -> None:
    answer = nobody.client.get("/")

    assert answer.status_code == 200
    assert "make ui" in answer.text


def test_paths_that_are_no_files_are_the_apps_own_page(nobody: Any, built: None) -> None:
    page = nobody.client.get("/det/experiments/3")

    assert (page.text, page.headers["cache-control"]) == ("the app", "no-cache")


@pytest.mark.parametrize("path", ["/det/assets/a.js", "/assets/a.js"])
def test_files_with_a_hash_in_their_name_are_kept_for_ever(nobody: Any, built: None, path: str) -> None:
    script = nobody.client.get(path)

    assert script.text == "code"
    assert "immutable" in script.headers["cache-control"]


def test_a_missing_file_is_404(nobody: Any, built: None) -> None:
    assert nobody.client.get("/assets/none.js").status_code == 404


def test_a_missing_icon_is_no_error(nobody: Any) -> None:
    assert nobody.client.get("/favicon.ico").status_code == 204


@pytest.mark.parametrize("path", ["../secret", "..%2fsecret", "a/../../secret", "%2e%2e/secret", "assets/../../secret"])
@pytest.mark.parametrize("base", ["/det/", "/assets/"])
def test_nothing_outside_is_served(nobody: Any, built: None, base: str, path: str) -> None:
    assert nobody.client.get(base + path).text != "secret"


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("GZIP;q=0.5, br;q=0", "gzip"),
        ("br;q=0, gzip;q=0", None),
        ("gzip;q=much", None),
        ("*", None),
        ("identity", None),
        ("", None),
    ],
)
def test_the_smallest_form_that_the_caller_takes_is_sent(
    nobody: Any, built: None, accepted: str, coding: str | None
) -> None:
    with nobody.client.stream("GET", "/det/assets/a.js", headers={"Accept-Encoding": accepted}) as script:
        sent = b"".join(script.iter_raw())

    assert script.headers.get("content-encoding") == coding
    assert sent == {"br": b"brotli", "gzip": gzip.compress(b"code"), None: b"code"}[coding]
    assert script.headers["content-type"].startswith("text/javascript")
    assert script.headers["vary"] == "Accept-Encoding"
    assert "immutable" in script.headers["cache-control"]


def test_what_has_one_form_is_the_same_for_everybody(nobody: Any, built: None) -> None:
    letters = nobody.client.get("/det/assets/letters.woff2", headers={"Accept-Encoding": "br, gzip"})

    assert letters.text == "letters"
    assert {"vary", "content-encoding"}.isdisjoint(letters.headers)


def test_each_form_has_a_tag_of_its_own_and_is_not_sent_twice(nobody: Any, built: None) -> None:
    def fetch(coding: str, known: str = "") -> Any:
        headers = {"Accept-Encoding": coding, "If-None-Match": known}
        return nobody.client.get("/det/assets/a.js", headers=headers)

    plain, packed = fetch("identity").headers["etag"], fetch("gzip").headers["etag"]

    assert plain != packed
    assert fetch("identity", packed).status_code == 200
    again = fetch("gzip", f'"other", W/{packed}')
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", packed)
    assert again.headers["vary"] == "Accept-Encoding"
    assert "immutable" in again.headers["cache-control"]


def test_a_page_of_the_same_size_and_time_is_another_page(nobody: Any, built: None, tmp_path: Path) -> None:
    index = tmp_path / "static" / "index.html"
    os.utime(index, (0, 0))
    before = nobody.client.get("/det/").headers["etag"]

    index.unlink()
    index.write_text("the new")
    os.utime(index, (0, 1))

    assert nobody.client.get("/det/").headers["etag"] != before
