"""Claims, exits and identities: the facts that keep a gang from starting twice or ending unseen."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from resolute.host.process_identity import NOBODY, ProcessIdentity, identity_of
from resolute.runners.shepherd.run_directory import Exit, RunDirectory


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    directory = RunDirectory(tmp_path / "a.1")
    directory.prepare({"entrypoint": "true", "env": {"TOKEN": "x"}}, b"archive")
    return directory


def test_a_request_is_private_and_can_be_taken_once(run: RunDirectory) -> None:
    mode = run.path.stat().st_mode & 0o777

    request = run.take_request()

    assert (mode, request["entrypoint"], run.context.read_bytes()) == (0o700, "true", b"archive")
    with pytest.raises(FileNotFoundError):
        run.take_request()


def test_only_one_process_gets_the_claim(run: RunDirectory) -> None:
    first, second = ProcessIdentity(1, "a"), ProcessIdentity(2, "b")

    claims = [run.claim(first), run.claim(second), run.claim(first)]

    assert claims == [True, False, False]
    assert run.claimed_by() == first
    assert not run.give_up()


def test_what_was_given_up_cannot_be_claimed(run: RunDirectory) -> None:
    assert run.give_up()
    assert run.give_up()

    assert not run.claim(ProcessIdentity(1, "a"))
    assert run.claimed_by() == NOBODY


def test_an_exit_is_recorded_with_its_reason_and_replaces_nothing_else(run: RunDirectory) -> None:
    before = run.exit()
    run.claim(ProcessIdentity(1, "a"))

    run.record_exit(Exit(137, "ended by SIGKILL — “really”" * 500, is_final=True))

    ended = run.exit()
    assert before is None
    assert ended is not None
    assert (ended.code, ended.is_final) == (137, True)
    assert ended.reason.startswith("ended by SIGKILL — “really”")


def test_the_exit_has_its_space_reserved_while_there_still_is_some(run: RunDirectory) -> None:
    run.claim(ProcessIdentity(1, "a"))

    reserved = (run.path / ".exit.json").stat().st_size
    run.record_exit(Exit(0))

    assert reserved == (run.path / "exit.json").stat().st_size


def test_a_process_is_known_by_more_than_its_pid() -> None:
    own = identity_of(os.getpid())

    assert own.is_alive
    assert not ProcessIdentity(own.pid, "another-boot/1").is_alive
    assert not NOBODY.is_alive


def test_a_process_that_only_waits_to_be_buried_is_not_alive() -> None:
    process = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    identity = identity_of(process.pid)
    was_alive = identity.is_alive

    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert was_alive
    assert not identity.is_alive
    process.communicate()


def test_what_is_noted_can_be_read_back(run: RunDirectory) -> None:
    nothing = (run.launched(), run.entrypoint())

    run.note_launch(ProcessIdentity(5, "x"))
    run.note_entrypoint(ProcessIdentity(6, "y"))

    assert nothing == (NOBODY, NOBODY)
    assert (run.launched(), run.entrypoint()) == (ProcessIdentity(5, "x"), ProcessIdentity(6, "y"))
