"""The program as a whole: help at once, errors as sentences, Ctrl-C in silence."""

import subprocess
import sys
from typing import Any

import httpx
import pytest

from resolute.cli.main import CATALOGUE, run
from resolute.client.fake import FakeMaster
from resolute.version import __version__


def test_help_names_every_command_and_its_short_form(resolute: Any) -> None:
    outcome = resolute("--help")

    assert outcome.code == 0
    for name, (_, aliases, purpose) in CATALOGUE.items():
        assert f"  {name} " in outcome.out
        assert purpose.split(":")[0] in outcome.out
        assert all(f"Short: {alias}" in outcome.out for alias in aliases)


def test_help_loads_neither_http_nor_rich_nor_any_group() -> None:
    code = (
        "import sys\n"
        "from resolute.cli.main import run\n"
        "run(['--help'])\n"
        "heavy = {'httpx', 'rich', 'pydantic', 'ruamel', 'torch', 'resolute.client', 'resolute.cli.experiment'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stderr.strip() == "[]"


def test_listing_loads_neither_yaml_nor_the_schema_of_configurations() -> None:
    code = (
        "import sys\n"
        "import resolute.cli.experiment\n"
        "print(sorted({'ruamel.yaml', 'pydantic', 'pathspec', 'resolute.spec'} & set(sys.modules)))\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_command_loads_and_explains_itself(resolute: Any, name: str) -> None:
    outcome = resolute(name, "--help")

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"Usage: resolute {name}")


@pytest.mark.parametrize(("short", "long"), [(a, n) for n, (_, aliases, _) in CATALOGUE.items() for a in aliases])
def test_short_names_are_the_same_commands(resolute: Any, short: str, long: str) -> None:
    first, second = resolute(short, "--help").out, resolute(long, "--help").out

    assert first.splitlines()[1:] == second.splitlines()[1:]


def test_an_unknown_command_is_a_usage_error(resolute: Any) -> None:
    outcome = resolute("expirement", "list")

    assert outcome.code == 2
    assert "No such command 'expirement'" in outcome.err


def test_an_error_of_the_master_is_one_sentence_on_stderr(resolute: Any) -> None:
    outcome = resolute("e", "describe", "99")

    assert outcome.code == 1
    assert outcome.err == "Error: experiment not found: 99\n"
    assert outcome.out == ""


def test_no_master_is_told_with_the_remedy(resolute: Any, master: FakeMaster) -> None:
    master.failures.append(httpx.ConnectError("Connection refused"))

    outcome = resolute("e", "list")

    assert outcome.code == 1
    assert outcome.err.startswith("Error: No master answers at http://fake:8080")
    assert "resolute up" in outcome.err
    assert "Traceback" not in outcome.err


def test_a_bug_is_a_sentence_too(resolute: Any, master: FakeMaster) -> None:
    master.failures.append(RuntimeError("surprise"))

    outcome = resolute("e", "list")

    assert outcome.code == 1
    assert outcome.err == "Error: RuntimeError: surprise (set RESOLUTE_DEBUG=1 for the details)\n"


def test_with_debugging_on_a_bug_shows_itself(
    resolute: Any,
    master: FakeMaster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RESOLUTE_DEBUG", "1")
    master.failures.append(RuntimeError("surprise"))

    with pytest.raises(RuntimeError, match="surprise"):
        resolute("e", "list")


def test_ctrl_c_ends_quietly_with_130(resolute: Any, master: FakeMaster) -> None:
    def interrupted(request: httpx.Request) -> httpx.Response:
        raise KeyboardInterrupt

    code = run(["e", "list"], transport=httpx.MockTransport(interrupted))

    assert code == 130
    assert resolute("version").err == ""


def test_the_master_can_be_named_on_the_command_line(resolute: Any) -> None:
    outcome = resolute("-m", "other:9000", "user", "whoami")

    assert outcome.out == "You are logged in to http://other:9000 as determined\n"


def test_a_command_can_run_as_another_user(resolute: Any) -> None:
    outcome = resolute("-u", "admin", "user", "whoami")

    assert "as admin" in outcome.out


def test_versions(resolute: Any, master: FakeMaster) -> None:
    assert resolute("--version").out == f"resolute {__version__}\n"
    assert resolute("version", "--json").json == {"client": __version__, "master": "0.38.1"}

    master.failures.append(httpx.ConnectError("refused"))
    assert "none at http://fake:8080" in resolute("version").out
