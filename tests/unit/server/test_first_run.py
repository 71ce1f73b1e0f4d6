"""The token of the first run, and whom the operator is told about."""

import pwd
from pathlib import Path

import pytest

from resolute.server.first_run import first_run_token, is_shared_machine


def account(uid: int, shell: str) -> pwd.struct_passwd:
    return pwd.struct_passwd(("somebody", "x", uid, uid, "", "/", shell))


def test_the_token_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    first = first_run_token(tmp_path)
    (tmp_path / "first-run.token").chmod(0o644)

    assert first_run_token(tmp_path) == first
    assert len(first) >= 32
    assert (tmp_path / "first-run.token").stat().st_mode & 0o777 == 0o600
    assert first_run_token(tmp_path.parent) != first


@pytest.mark.parametrize(
    ("uid", "shell", "expected"),
    [
        (1234, "/bin/bash", True),
        (1234, "/usr/sbin/nologin", False),
        (101, "/bin/bash", False),
        (65534, "/bin/sh", False),
    ],
)
def test_a_machine_is_shared_when_somebody_else_can_log_in(uid: int, shell: str, expected: bool) -> None:
    assert is_shared_machine([account(0, "/bin/bash"), account(uid, shell)]) is expected
