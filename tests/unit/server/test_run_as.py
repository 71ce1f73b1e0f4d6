"""Which account `--run-as` names, and what is refused before anything starts."""

import os

import pytest

from resolute.domain.agent_account import AgentAccount
from resolute.domain.errors import InvalidInput
from resolute.server.run_as import run_as_account, runs_as_root


def test_nothing_named_is_no_account() -> None:
    assert run_as_account(None) is None
    assert run_as_account("") is None


@pytest.mark.parametrize("given", ["root", "0"])
def test_an_account_is_found_by_name_and_by_number(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    assert run_as_account(given) == AgentAccount(uid=0, gid=0, user="root")


@pytest.mark.parametrize("given", ["nobody-has-this-name", "4294967290", "99999999999999999999", "-1"])
def test_an_unknown_account_is_refused(given: str) -> None:
    with pytest.raises(InvalidInput, match="no account of this machine"):
        run_as_account(given)


def test_only_root_may_name_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4242)

    with pytest.raises(InvalidInput, match="only root can run trials as somebody else, and this is uid 4242"):
        run_as_account("root")


def test_root_is_root_however_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    assert runs_as_root(None)
    assert runs_as_root(AgentAccount(uid=0, gid=0))
    assert not runs_as_root(AgentAccount(uid=1, gid=0))
