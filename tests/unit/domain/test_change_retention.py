from datetime import UTC, datetime, timedelta

import pytest

from resolute.domain.change_retention import ChangeRetention, to_sweep

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
POLICY = ChangeRetention(audit=timedelta(days=90), unread=timedelta(days=7))


@pytest.mark.parametrize(
    ("seq", "age", "is_persons", "goes"),
    [
        (5, timedelta(0), False, True),
        (6, timedelta(0), False, False),
        (6, timedelta(days=7), False, True),
        (5, timedelta(days=89), True, False),
        (6, timedelta(days=90), True, True),
    ],
    ids=[
        "the platform's own goes once all have read it",
        "and stays for one that has not",
        "but not for ever",
        "what a person did stays though all have read it",
        "until it is old",
    ],
)
def test_a_change_is_kept_while_it_is_needed(seq: int, age: timedelta, is_persons: bool, goes: bool) -> None:
    swept = to_sweep([(seq, NOON - age, is_persons)], read_by_all=5, policy=POLICY, now=NOON)

    assert swept == ([seq] if goes else [])
