"""Log policies: which lines set off what."""

import re
from typing import Any

import pytest

from resolute.domain.errors import InvalidInput
from resolute.domain.log_policy import LogAction, LogMatch, cancels_retries, find_matches, parse_log_policies

OOM = {"name": "out of memory", "pattern": ".*CUDA out of memory.*", "action": "cancel_retries"}
ECC = {"name": "ECC", "pattern": "uncorrectable ECC error", "action": "exclude_node"}
SEEN = {"name": "seen", "pattern": "NaN"}


def matches(section: list[dict[str, Any]], *lines: tuple[str, str], known: tuple[str, ...] = ()) -> list[LogMatch]:
    policies = parse_log_policies(section)
    return find_matches(
        policies, lines, lambda place, text: re.search(policies[place].pattern, text) is not None, known=known
    )


def test_a_line_that_matches_cancels_the_retries_and_says_why() -> None:
    [match] = matches([OOM], ("epoch 1", "n1"), ("torch: CUDA out of memory. Tried", "n1"))

    assert match.sentence == (
        "Log policy 'out of memory' matched 'torch: CUDA out of memory. Tried'; it will not be restarted."
    )
    assert cancels_retries(parse_log_policies([SEEN, OOM]), {"1"}) == "out of memory"
    assert cancels_retries(parse_log_policies([SEEN, OOM]), {"0"}) == ""


def test_a_policy_is_set_off_once_in_a_run() -> None:
    lines = [("loss NaN", "n1"), ("loss NaN again", "n2")]

    first = matches([SEEN], *lines)

    assert [match.text for match in first] == ["loss NaN"]
    assert matches([SEEN], *lines, known=(first[0].key,)) == []


def test_every_node_on_which_it_matched_is_excluded_once() -> None:
    lines = [("uncorrectable ECC error", node) for node in ("n1", "n2", "n1")]

    found = matches([ECC], *lines)

    assert [match.node_id for match in found] == ["n1", "n2"]
    assert [match.node_id for match in matches([ECC], *lines, known=(found[0].key,))] == ["n2"]


def test_lines_that_match_nothing_change_nothing() -> None:
    assert matches([OOM, ECC], ("all is well", "n1")) == []


def test_a_policy_without_an_action_is_only_reported() -> None:
    [match] = matches([SEEN], ("loss NaN", "n1"))

    assert match.sentence == "Log policy 'seen' matched 'loss NaN'."


def test_matches_are_listed_in_the_order_of_the_configuration() -> None:
    found = matches([OOM, ECC], ("uncorrectable ECC error", "n1"), ("CUDA out of memory", "n1"))

    assert [match.policy.name for match in found] == ["out of memory", "ECC"]


@pytest.mark.parametrize("action", ["exclude_node", {"type": "exclude_node"}])
def test_both_spellings_of_an_action_are_read(action: Any) -> None:
    [policy] = parse_log_policies([{"pattern": "x", "action": action}])

    assert policy.action is LogAction.EXCLUDE_NODE
    assert policy.name == "x"


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"pattern": "("}, r"log_policies\[0\]\.pattern '\(' is not a regular expression"),
        ({}, r"log_policies\[0\]\.pattern is None"),
        ({"pattern": "x", "action": "explode"}, r"action is 'explode'; it must be cancel_retries or exclude_node"),
    ],
)
def test_a_faulty_entry_is_refused_with_its_place(entry: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        parse_log_policies([entry])
