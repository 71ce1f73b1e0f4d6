"""The built web UI: its files, its own page for every other path, and nothing from outside."""

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
