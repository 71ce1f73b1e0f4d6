"""Failed log-ins: how many are allowed, who has to wait, and who does not."""

from datetime import UTC, datetime, timedelta

import pytest

from resolute.domain.errors import TooManyRequests
from resolute.domain.login_limit import FAILURES_AT_ADDRESS, FAILURES_OF_USER, FAILURES_OF_USER_AT_ADDRESS, LoginLimit

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def fail(limit: LoginLimit, times: int, *, user: str = "ann", address: str = "10.0.0.1") -> None:
    for number in range(times):
        limit.begin(user.format(number), address.format(number), now=NOON)


def test_guesses_at_one_user_have_to_wait_and_are_told_how_long() -> None:
    limit = LoginLimit()
    fail(limit, FAILURES_OF_USER_AT_ADDRESS)

    with pytest.raises(TooManyRequests, match="Try again in 240 seconds") as refused:
        limit.begin("ann", "10.0.0.1", now=NOON + timedelta(minutes=1))

    assert refused.value.retry_after_s == 240


def test_one_address_cannot_try_many_users() -> None:
    limit = LoginLimit()
    fail(limit, FAILURES_AT_ADDRESS, user="user{}")

    with pytest.raises(TooManyRequests):
        limit.begin("another", "10.0.0.1", now=NOON)


def test_many_addresses_cannot_try_one_user() -> None:
    limit = LoginLimit()
    fail(limit, FAILURES_OF_USER, address="10.0.0.{}")

    with pytest.raises(TooManyRequests):
        limit.begin("ann", "10.0.1.1", now=NOON)


def test_strangers_do_not_keep_out_who_logged_in_from_here_before() -> None:
    limit = LoginLimit()
    limit.begin("ann", "10.0.9.9", now=NOON)
    limit.succeeded("ann", "10.0.9.9", now=NOON)
    fail(limit, FAILURES_OF_USER, address="10.0.0.{}")

    limit.begin("ann", "10.0.9.9", now=NOON)


def test_a_right_password_forgives_the_slips_before_it() -> None:
    limit = LoginLimit()
    for _ in range(3):
        fail(limit, FAILURES_OF_USER_AT_ADDRESS)
        limit.succeeded("ann", "10.0.0.1", now=NOON)


@pytest.mark.parametrize("later", [timedelta(minutes=5), timedelta(hours=-1)])
def test_the_wait_ends_also_when_the_clock_is_set_back(later: timedelta) -> None:
    limit = LoginLimit()
    fail(limit, FAILURES_OF_USER_AT_ADDRESS)

    limit.begin("ann", "10.0.0.1", now=NOON + later)
