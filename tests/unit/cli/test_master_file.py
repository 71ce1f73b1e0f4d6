"""`resolute up --config master.yaml`: every option may stand there, and a fault is named with its line and remedy."""

from pathlib import Path
from typing import Any

import pytest
import typer

from resolute.cli import up
from resolute.domain.errors import InvalidConfig
from resolute.domain.rights import RightsMode

COMMAND = typer.main.get_command(up.app)
OPTIONS = {each.name for each in COMMAND.params} - {"config"}


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What `resolute up` would start with: `given(text, "--port", "1")`."""
    for name in (
        "HOME",
        "CONFIG",
        "RIGHTS",
        "ROUTER_PORT",
        "ADMIN_PASSWORD",
        "INITIAL_PASSWORD",
        "AUDIT_DAYS",
        "ADVERTISE",
    ):
        monkeypatch.delenv(f"RESOLUTE_{name}", raising=False)

    def read(text: str, *typed: str) -> dict[str, Any]:
        (tmp_path / "master.yaml").write_text(text)
        return COMMAND.make_context("up", ["--config", str(tmp_path / "master.yaml"), *typed]).params

    return read


def test_every_option_may_stand_in_the_file(given: Any, tmp_path: Path) -> None:
    values: dict[str, Any] = {
        "host": "127.0.0.2",
        "port": 8088,
        "router_port": 8099,
        "home": "kept",
        "slots": 3,
        "db": "postgresql://resolute@db/resolute",
        "stop_trials": True,
        "allowed_host": ["one.example", "two.example"],
        "advertise": "http://train.example.org",
        "tls": "self-signed",
        "tls_cert": "/etc/cert.pem",
        "tls_key": "key.pem",
        "allow_cidr": ["10.0.0.0/8"],
        "trusted_proxy": ["10.0.0.2"],
        "task_domain": "tasks.example.org",
        "admin_password": "long enough",
        "initial_password": "and another",
        "audit_days": 365,
        "rights": "roles",
        "run_as": "trials",
        "warm": False,
    }
    assert set(values) == OPTIONS

    found = given("".join(f"{key}: {value}\n" for key, value in values.items()))

    typed = {"home": tmp_path / "kept", "tls_cert": Path("/etc/cert.pem"), "tls_key": tmp_path / "key.pem"}
    assert {key: found[key] for key in values} == {**values, **typed, "rights": RightsMode.ROLES}


def test_what_is_typed_wins_over_the_environment_and_that_over_the_file(
    given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESOLUTE_AUDIT_DAYS", "20")
    monkeypatch.setenv("RESOLUTE_RIGHTS", "roles")

    found = given("audit_days: 10\nrights: basic\nport: 1\nwarm: false\nslots: 5\n", "--audit-days", "30", "--warm")

    assert (found["audit_days"], found["rights"], found["port"]) == (30, RightsMode.ROLES, 1)
    assert (found["warm"], found["slots"]) == (True, 5)


def test_the_environment_may_name_the_file(given: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given("")
    (tmp_path / "other.yaml").write_text("port: 7")
    monkeypatch.setenv("RESOLUTE_CONFIG", str(tmp_path / "other.yaml"))

    assert COMMAND.make_context("up", []).params["port"] == 7


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "port:\nhome: ~\n"])
def test_what_says_nothing_leaves_everything_as_it_is(given: Any, text: str) -> None:
    found = given(text)

    assert (found["port"], found["home"], found["rights"]) == (8080, None, RightsMode.BASIC)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("host: 127.0.0.1\nprt: 80", "master.yaml:2: prt: unknown key; did you mean port?"),
        ("router-port: 80", "router-port: unknown key; did you mean router_port?"),
        ("colour: blue", "colour: unknown key; known are host, port, "),
        ("config: other.yaml", "config: unknown key"),
        ("slots: two", 'slots: "two" cannot be used: '),
        ("slots: 1.5", "slots: 1.5 cannot be used: "),
        ("slots: true", "slots: true is not a plain value"),
        ("audit_days: 0", "audit_days: 0 cannot be used: "),
        ("rights: role", 'rights: "role" cannot be used: '),
        ("warm: 1", "warm: 1 is neither true nor false"),
        ("port: [80, 81]", "port: [80, 81] is not a plain value"),
        ("allowed_host: [a, {b: c}]", "is not a plain value, or a list of such values"),
        ("admin_password: 0123", "admin_password: the value (hidden) is read as a number; put it in quotes"),
        ("port: 1\nport: 2", "is given twice, on lines 1 and 2; keep one"),
        ("- port", "is not a map of options; write keys such as `port: 8080`"),
        ("port: [", "master.yaml:1: is not YAML"),
    ],
)
def test_a_fault_is_told_with_its_line_and_what_to_do(given: Any, text: str, sentence: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        given(text)

    assert sentence in str(refused.value)


def test_all_faults_are_told_at_once(given: Any) -> None:
    with pytest.raises(InvalidConfig) as refused:
        given("prt: 80\nslots: two")

    assert len(str(refused.value).splitlines()) == 2


def test_a_file_that_is_not_there_is_a_sentence(resolute: Any) -> None:
    ended = resolute("up", "--config", "nowhere.yaml")

    assert ended.code == 1
    assert ended.err == (
        "Error: The configuration nowhere.yaml cannot be read: No such file or directory. Check --config.\n"
    )


def test_a_password_that_others_may_read_is_warned_of(
    given: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given("admin_password: long enough")
    warned = capsys.readouterr().err
    (tmp_path / "master.yaml").chmod(0o600)
    given("admin_password: long enough")

    assert "holds a password, and others may read it. Run: chmod 600" in warned
    assert capsys.readouterr().err == ""
