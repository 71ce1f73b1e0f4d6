"""Log policies: which lines set off what."""

from typing import Any

import pytest

from resolute.domain.errors import InvalidInput
from resolute.domain.log_policy import LogAction, Verdict, judge, parse_log_policies

OOM = {"name": "out of memory", "pattern": ".*CUDA out of memory.*", "action": "cancel_retries"}
ECC = {"name": "ECC", "pattern": "uncorrectable ECC error", "action": "exclude_node"}


def test_a_line_that_matches_cancels_the_retries_and_says_why() -> None:
    verdict = judge(parse_log_policies([OOM]), [("epoch 1", "n1"), ("torch: CUDA out of memory. Tried", "n1")])

    assert verdict.cancel_retries
    assert verdict.matched == ("out of memory",)
    assert "'torch: CUDA out of memory. Tried'; it will not be restarted" in verdict.reasons[0]


def test_every_node_on_which_it_matched_is_excluded_once() -> None:
    lines = [("uncorrectable ECC error", node) for node in ("n1", "n2", "n1")]

    verdict = judge(parse_log_policies([ECC]), lines)

    assert verdict.excluded_nodes == ("n1", "n2")
    assert verdict.matched == ("ECC",)
    assert not verdict.cancel_retries


def test_lines_that_match_nothing_change_nothing() -> None:
    assert judge(parse_log_policies([OOM, ECC]), [("all is well", "n1")]) == Verdict()


def test_a_policy_without_an_action_is_only_reported() -> None:
    verdict = judge(parse_log_policies([{"name": "seen", "pattern": "NaN"}]), [("loss NaN", "n1")])

    assert verdict.matched == ("seen",)
    assert verdict.reasons == ("Log policy 'seen' matched 'loss NaN'.",)


def test_matches_are_listed_in_the_order_of_the_configuration() -> None:
    lines = [("uncorrectable ECC error", "n1"), ("CUDA out of memory", "n1")]

    assert judge(parse_log_policies([OOM, ECC]), lines).matched == ("out of memory", "ECC")


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
