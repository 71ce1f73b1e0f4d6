"""`resolute up` hands what was typed to the server."""

from typing import Any

import pytest

from resolute.cli.up import require
from resolute.domain.errors import NotSupported


def test_help_names_every_option(resolute: Any) -> None:
    out = resolute("up", "--help").out

    for option in ("--host", "--port", "--home", "--slots", "--db", "--stop-trials", "--audit-days", "--advertise"):
        assert option in out


@pytest.mark.parametrize("option", [("--slots", "-1"), ("--audit-days", "0")])
def test_a_bad_number_is_a_usage_error(resolute: Any, option: tuple[str, str]) -> None:
    assert resolute("up", *option).code == 2


def test_a_missing_part_is_named_with_the_command_that_installs_it() -> None:
    require(["json"])

    with pytest.raises(NotSupported, match=r"needs surely_not_installed\. .*pip install 'resolute\[server\]'"):
        require(["json", "surely_not_installed"])
