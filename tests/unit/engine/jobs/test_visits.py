"""What is known of the use of a task through the proxy."""

from datetime import UTC, datetime, timedelta

from resolute.engine.jobs.visits import Visits

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=5)


def test_a_task_that_nobody_used_has_no_activity() -> None:
    visits = Visits()

    assert (visits.last_activity("t"), visits.open_connections("t")) == (None, 0)


def test_connections_are_counted_while_they_are_open() -> None:
    visits = Visits()

    with visits.connection("t", NOON), visits.connection("t", LATER):
        assert visits.open_connections("t") == 2

    assert (visits.last_activity("t"), visits.open_connections("t")) == (LATER, 0)


def test_activity_never_goes_back() -> None:
    visits = Visits()

    visits.active("t", LATER)
    visits.active("t", NOON)

    assert visits.last_activity("t") == LATER


def test_a_connection_may_outlive_what_is_known_of_its_task() -> None:
    visits = Visits()

    with visits.connection("t", NOON):
        visits.forget("t")

    assert (visits.last_activity("t"), visits.open_connections("t")) == (None, 0)
