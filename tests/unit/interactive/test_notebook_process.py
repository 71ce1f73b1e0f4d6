"""A notebook's folder, and when it is idle."""

from pathlib import Path

import httpx
import pytest

from resolute.interactive.idleness import Idleness
from resolute.interactive.notebook import furnish, is_busy


def test_a_new_folder_has_the_files_that_came_along_examples_and_the_checkpoints(tmp_path: Path) -> None:
    came, store = tmp_path / "came", tmp_path / "store"
    came.mkdir()
    store.mkdir()
    (came / "mine.ipynb").write_text("{}")

    folder = furnish(tmp_path / "home" / "n1", came_along=came, checkpoints=str(store))

    assert (folder / "mine.ipynb").exists()
    assert (folder / "examples" / "first_steps.ipynb").exists()
    assert (folder / "checkpoints").resolve() == store
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_there_is_left_as_its_owner_made_it(tmp_path: Path) -> None:
    came = tmp_path / "came"
    came.mkdir()
    (came / "a.txt").write_text("old")
    folder = furnish(tmp_path / "n1", came_along=came, checkpoints=None)
    (folder / "a.txt").write_text("new")

    furnish(folder, came_along=came, checkpoints=None)

    assert (folder / "a.txt").read_text() == "new"


def jupyter(kernels: list[dict[str, object]], terminals: list[object], status: int = 200) -> httpx.Client:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json=kernels if request.url.path.endswith("kernels") else terminals)

    return httpx.Client(transport=httpx.MockTransport(answer), base_url="http://jupyter")


KERNEL = {"connections": 0, "execution_state": "idle"}


@pytest.mark.parametrize(
    ("idle_type", "kernels", "terminals", "expected"),
    [
        ("kernels_or_terminals", [], [], False),
        ("kernels_or_terminals", [KERNEL], [], True),
        ("kernels_or_terminals", [], [{"name": "1"}], True),
        ("kernel_connections", [KERNEL], [{"name": "1"}], False),
        ("kernel_connections", [{**KERNEL, "connections": 1}], [], True),
        ("activity", [KERNEL], [{"name": "1"}], False),
        ("activity", [{**KERNEL, "execution_state": "busy"}], [], True),
    ],
)
def test_what_keeps_a_notebook_is_what_its_idle_type_says(
    idle_type: str, kernels: list[dict[str, object]], terminals: list[object], expected: bool
) -> None:
    assert is_busy(jupyter(kernels, terminals), idle_type) is expected


def test_a_server_that_does_not_answer_is_not_taken_for_idle() -> None:
    assert is_busy(jupyter([], [], status=503), "activity")


def test_it_has_been_idle_for_too_long_when_nothing_happened_for_the_timeout() -> None:
    now = [0.0]
    idleness = Idleness(10.0, clock=lambda: now[0])

    now[0] = 9.0
    idleness.active()
    now[0] = 19.0
    not_yet = idleness.is_too_long
    now[0] = 19.5

    assert (not_yet, idleness.is_too_long) == (False, True)
    assert not Idleness(None, clock=lambda: now[0]).is_too_long
