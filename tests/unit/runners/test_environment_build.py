"""Building an environment, without building one: what is run, what is kept, and what is said when it fails."""

from pathlib import Path

import pytest

from resolute.domain.errors import EnvironmentFailed, Unavailable
from resolute.engine.ports.runner import EnvironmentSpec
from resolute.runners.environments import Environment, Interpreter, fingerprint, resolve
from resolute.runners.shepherd.environment import EnvironmentBuild, build_from_json, ensure_built


class Builder:
    """Stands in for uv: makes the directories it would make, or complains."""

    def __init__(self, directory: Path, *, complaint: str = "") -> None:
        self.build = EnvironmentBuild(
            directory=str(directory),
            base_python="/usr/bin/python3",
            requirements=("a==1", "b"),
            fallback=("/platform/site-packages",),
            shared=("torch",),
            uv="/usr/bin/uv",
        )
        self.complaint = complaint
        self.executed: list[list[str]] = []
        self.said: list[str] = []

    def execute(self, argv: list[str]) -> tuple[int, str]:
        self.executed.append(argv)
        if argv[1] == "venv":
            Path(self.build.directory, "lib/python3.11/site-packages").mkdir(parents=True)
            return 0, ""
        return (2, self.complaint) if self.complaint else (0, "")

    def run(self) -> None:
        ensure_built(self.build, execute=self.execute, say=self.said.append, wait=lambda _seconds: None)


def test_an_environment_is_built_once(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "env")

    builder.run()
    builder.run()

    assert [argv[1] for argv in builder.executed] == ["venv", "pip"]
    assert (tmp_path / "env/requirements.txt").read_text() == "a==1\nb\n"
    assert (tmp_path / "env/shared.txt").read_text() == "torch\n"
    assert "addsitedir('/platform/site-packages')" in next((tmp_path / "env").rglob("*.pth")).read_text()


def test_what_a_crashed_build_left_is_removed_first(tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env/half").touch()

    Builder(tmp_path / "env").run()

    assert not (tmp_path / "env/half").exists()


@pytest.mark.parametrize(
    ("complaint", "error"),
    [
        (
            "  × No solution found when resolving:\n  ╰─▶ Because b was not found, it is unsatisfiable.\n",
            EnvironmentFailed,
        ),
        ("error: Failed to fetch: error sending request for url (https://example.invalid/)", Unavailable),
    ],
)
def test_a_failed_build_leaves_nothing_and_tells_faults_that_may_pass_from_those_that_will_not(
    tmp_path: Path, complaint: str, error: type[Exception]
) -> None:
    builder = Builder(tmp_path / "env", complaint=complaint)

    with pytest.raises(error, match=r"with a==1, b could not be built") as failed:
        builder.run()

    assert not (tmp_path / "env").exists()
    assert not set("×╰─▶") & set(str(failed.value))


def test_a_build_travels_as_json(tmp_path: Path) -> None:
    build = Builder(tmp_path).build

    assert build_from_json(build.as_json()) == build


def test_the_same_lines_give_the_same_environment_and_others_another() -> None:
    base = Interpreter("/usr/bin/python3", (3, 11, 7), ())
    newer = Interpreter("/usr/bin/python3", (3, 12, 0), ())

    prints = [
        fingerprint(base, ("a", "b")),
        fingerprint(base, (" a", "b ")),
        fingerprint(base, ("b", "a")),
        fingerprint(newer, ("a", "b")),
    ]

    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def test_torch_is_shared_unless_it_is_asked_for(tmp_path: Path) -> None:
    depends = resolve(EnvironmentSpec(requirements=("lightning",)), envs=tmp_path)
    asks = resolve(EnvironmentSpec(requirements=("torch==2.11", "lightning")), envs=tmp_path)

    assert depends.build is not None
    assert asks.build is not None
    assert {"torch", "torchvision"} <= set(depends.build.shared)
    assert asks.build.shared == ()


def test_an_environment_that_is_not_built_yet_is_not_ready(tmp_path: Path) -> None:
    environment = resolve(EnvironmentSpec(requirements=("x",)), envs=tmp_path)

    assert not environment.is_ready
    assert environment.prefix == str(Path(environment.python).parent.parent)
    assert Environment("/usr/bin/python3", can_be_warm=True).is_ready
