"""What `pip install resolute` brings: the archives are built as for a release, opened, installed and used."""

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[3]
UV = Path(sys.executable).parent / "uv"
PAGE = "resolute/server/static/index.html"

pytestmark = pytest.mark.skipif(
    not (ROOT / "src" / PAGE).exists(), reason="the web UI is not built, so no release can be; run `make ui`"
)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    _build(folder)
    return folder


@pytest.fixture(scope="module")
def installed(archives: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has nothing but the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [UV, "pip", "install", "--quiet", "--python", python, f"{_only(archives, '*.whl')}[server]"], check=True
    )
    return folder / "bin"


def test_both_archives_carry_the_built_web_ui(archives: Path) -> None:
    with zipfile.ZipFile(_only(archives, "*.whl")) as wheel:
        in_wheel = set(wheel.namelist())
    with tarfile.open(_only(archives, "*.tar.gz")) as sdist:
        in_sdist = {name.partition("/")[2] for name in sdist.getnames()}

    built = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / PAGE).parent.rglob("*.*")}
    built = {name for name in built if not name.endswith(".ready")}
    assert PAGE in built
    scripts = {name for name in built if name.endswith(".js") and (ROOT / "src" / name).stat().st_size >= 1000}
    assert {f"{name}.{form}" for name in scripts for form in ("br", "gz")} <= built
    assert built <= in_wheel
    assert {f"src/{name}" for name in built} <= in_sdist


def test_a_wheel_from_the_checkout_equals_the_one_from_the_sdist_to_the_byte(archives: Path, tmp_path: Path) -> None:
    _build(tmp_path, "--wheel")

    assert _digest(_only(tmp_path, "*.whl")) == _digest(_only(archives, "*.whl"))


def test_a_checkout_without_the_web_ui_is_refused_with_the_remedy(archives: Path, tmp_path: Path) -> None:
    with tarfile.open(_only(archives, "*.tar.gz")) as sdist:
        sdist.extractall(tmp_path, filter="data")
    [source] = tmp_path.iterdir()
    (source / "src" / PAGE).unlink()

    refused = subprocess.run(_command(tmp_path / "dist", "--wheel"), cwd=source, capture_output=True, text=True)

    assert refused.returncode != 0
    assert "make ui" in refused.stderr


def test_the_kaptain_sdk_is_found_under_its_own_name(installed: Path, tmp_path: Path) -> None:
    code = "from kaptain.model.models import Model; import resolute; print(Model is resolute.Model)"

    found = subprocess.run([installed / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True)

    assert found.stdout.strip() == "True", found.stderr


def test_an_empty_environment_runs_the_platform_and_shows_its_page(installed: Path, tmp_path: Path) -> None:
    with _Master(installed, tmp_path) as (url, process):
        page = httpx.get(url + "/det", follow_redirects=True)
        script = re.search(r'type="module"[^>]* src="(/[^"]+)"', page.text)
        assert script is not None
        answer = httpx.get(url + script[1])
        listed = subprocess.run(
            [installed / "resolute", "-m", url, "experiment", "list"], capture_output=True, text=True, check=True
        )

    assert page.headers["content-type"].startswith("text/html")
    assert len(answer.content) > 100_000
    assert process.returncode == 0
    assert "ID" in listed.stdout


class _Master:
    """`resolute up` of an installed wheel, until the block ends."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._output = folder / "output"
        environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
        with self._output.open("wb") as output:
            command = [programs / "resolute", "up", "--port", "0", "--home", folder / "home", "--no-warm"]
            self._process = subprocess.Popen(command, stdout=output, stderr=output, env=environment, cwd=folder)

    def __enter__(self) -> tuple[str, subprocess.Popen[bytes]]:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self._process.poll() is None:
            ready = re.search(r"ready at (http://\S+)", self._output.read_text())
            if ready:
                return ready[1], self._process
            time.sleep(0.05)
        raise AssertionError(f"the platform did not come up:\n{self._output.read_text()}")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)


def _build(out: Path, *options: str) -> None:
    subprocess.run(_command(out, *options), cwd=ROOT, check=True, capture_output=True)


def _command(out: Path, *options: str) -> list[str]:
    tool = [str(UV), "build", "--no-build-isolation", "--python", sys.executable, "--out-dir", str(out)]
    return [*tool, *options]


def _only(folder: Path, pattern: str) -> Path:
    [path] = folder.glob(pattern)
    return path


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
