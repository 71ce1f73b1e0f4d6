"""Which files a model process may open follows from where the model lies, and from nothing it says."""

import sys
from pathlib import Path

import pytest

import resolute
from resolute.serving.confinement.policy import Confinement, confinement_of, machine_memory


def made(source: Path | str, **given: object) -> Confinement:
    known = {"is_trusted": False, "memory_bytes": 0, **given}
    return confinement_of(source, Path("/scratch"), **known)  # type: ignore[arg-type]


def test_python_and_the_model_can_be_read_and_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()

    readable = made(tmp_path / "model").readable

    assert str(tmp_path / "model") in readable
    assert {sys.prefix, sys.base_prefix, str(Path(resolute.__file__).parent)} <= set(readable)
    assert not {"/", "/etc", "/home", "/root", "/tmp", "/var", str(tmp_path)} & set(readable)
    assert all(Path(place).exists() for place in readable)


@pytest.mark.parametrize(
    ("name", "has_folder"), [("m.mar", False), ("m.tar.gz", False), ("m.onnx", True), ("m.pt", True)]
)
def test_what_lies_beside_a_file_belongs_to_it_unless_it_is_an_archive(
    tmp_path: Path, name: str, has_folder: bool
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / name).touch()

    readable = made(tmp_path / "models" / name).readable

    assert str(tmp_path / "models" / name) in readable
    assert (str(tmp_path / "models") in readable) is has_folder


@pytest.mark.parametrize("place", [".", ".."])
def test_a_file_in_the_home_folder_opens_that_file_alone(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "people" / "ada"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    source = (home / place / "net.pt").resolve()
    source.touch()

    readable = made(source).readable

    assert str(source) in readable
    assert str(source.parent) not in readable


def test_the_folder_that_the_server_was_started_in_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])

    assert str(tmp_path) not in made("/nowhere").readable


def test_code_that_is_named_by_its_module_is_the_users_own() -> None:
    assert made("python:mine:Model").is_trusted
    assert not made("/models/python").is_trusted
    assert made("/models/m", is_trusted=True).is_trusted


def test_memory_is_bounded_by_the_machine_or_by_what_was_asked_for() -> None:
    assert made("/m").memory_bytes == machine_memory() > 1 << 28
    assert made("/m", memory_bytes=5).memory_bytes == 5


def test_it_travels_as_text() -> None:
    confinement = made("/m")

    assert Confinement.of_json(confinement.to_json()) == confinement
