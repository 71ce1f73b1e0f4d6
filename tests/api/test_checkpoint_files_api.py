"""One file of a checkpoint, as the web UI reads an evaluation and its pictures."""

from typing import Any

import pytest


@pytest.fixture
def stored(api: Any) -> str:
    files = {"evaluation.json": b'{"kind": "evaluation"}', "evaluation/worst-1.jpg": b"\xff\xd8", "page.html": b"<b>"}
    return str(api.running().checkpoint(1, files))


def fetch(api: Any, uuid: str, path: str) -> Any:
    return api.client.get(f"/api/v1/checkpoints/{uuid}/file", params={"path": path}, headers=api.headers)


def test_a_file_comes_as_it_was_stored_with_its_kind(api: Any, stored: str) -> None:
    document = fetch(api, stored, "evaluation.json")
    picture = fetch(api, stored, "evaluation/worst-1.jpg")

    assert document.json() == {"kind": "evaluation"}
    assert document.headers["content-type"] == "application/json"
    assert picture.content == b"\xff\xd8"
    assert picture.headers["content-type"] == "image/jpeg"


def test_a_page_in_a_checkpoint_is_not_run_as_one_of_ours(api: Any, stored: str) -> None:
    answer = fetch(api, stored, "page.html")

    assert answer.headers["content-disposition"] == "attachment"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["nothing.json", "evaluation/", "../../resolute.sqlite3", "/etc/hostname"])
def test_what_the_checkpoint_does_not_name_is_not_given_out(api: Any, stored: str, path: str) -> None:
    answer = fetch(api, stored, path)

    assert answer.status_code == 404
    assert "evaluation.json, evaluation/worst-1.jpg, page.html" in answer.text


def test_files_of_a_deleted_checkpoint_are_refused(api: Any, stored: str) -> None:
    api.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [stored]})

    answer = fetch(api, stored, "evaluation.json")

    assert answer.status_code == 400
    assert "cannot be downloaded" in answer.text
