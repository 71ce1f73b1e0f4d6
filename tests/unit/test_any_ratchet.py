"""How often `Any` is written in each package goes down, never up."""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "resolute"
MOST = {
    "cli": 62,
    "domain": 14,
    "engine": 64,
    "server": 42,
    "spec": 54,
    "store": 86,
}


def count(package: str) -> int:
    """Words, those of imports and comments included: as `grep -rwo Any` counts them."""
    return sum(len(re.findall(r"\bAny\b", path.read_text())) for path in (SOURCE / package).rglob("*.py"))


@pytest.mark.parametrize("package", MOST)
def test_any_is_written_no_more_often_than_before(package: str) -> None:
    found = count(package)

    assert found <= MOST[package], (
        f"`Any` stands {found} times in {package}, {MOST[package]} are allowed. Say what it is: a dataclass, "
        "a TypedDict, or `object` for what is only handed on."
    )


@pytest.mark.parametrize("package", MOST)
def test_the_limit_follows_the_count_down(package: str) -> None:
    found = count(package)

    assert found > MOST[package] - 10, f"`Any` stands only {found} times in {package}: write that number here."
