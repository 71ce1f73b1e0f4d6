"""Slots and how long they were held."""

from datetime import UTC, datetime, timedelta

import pytest

from resolute.domain.errors import InvalidInput
from resolute.domain.slot_use import Periods, SlotUse, add_up

DAY = timedelta(days=1)
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def use(start_h: float, end_h: float, **fields: object) -> SlotUse:
    values = {"slots": 1, "pool": "default", "username": "ann", "user_id": 1} | fields
    return SlotUse(start=FIRST + timedelta(hours=start_h), end=FIRST + timedelta(hours=end_h), **values)  # type: ignore[arg-type]


def test_a_use_is_cut_to_the_interval() -> None:
    part = use(-2, 30).within(FIRST, FIRST + DAY)

    assert part is not None
    assert (part.start, part.end, part.seconds) == (FIRST, FIRST + DAY, 86_400)


@pytest.mark.parametrize("hours", [(-2, -1), (-2, 0), (24, 25), (30, 31), (5, 5), (6, 5)])
def test_a_use_outside_the_interval_has_no_part_in_it(hours: tuple[float, float]) -> None:
    assert use(*hours).within(FIRST, FIRST + DAY) is None


def test_slot_seconds_are_time_times_slots() -> None:
    assert use(0, 1, slots=4).slot_seconds == 4 * 3600


def test_sums_are_split_by_user_pool_and_label() -> None:
    uses = [
        use(0, 1, labels=("a", "b")),
        use(0, 2, username="bob", pool="gpu", slots=2),
        use(23, 25),
    ]

    sums = add_up(uses, FIRST, FIRST + DAY)

    hour = 3600.0
    assert sums.seconds == 6 * hour
    assert sums.by_username == {"ann": 2 * hour, "bob": 4 * hour}
    assert sums.by_pool == {"default": 2 * hour, "gpu": 4 * hour}
    assert sums.by_label == {"a": hour, "b": hour}


def test_the_sums_of_days_are_the_sum_over_all_of_them() -> None:
    uses = [use(3, 70, slots=3), use(20, 28), use(71.5, 90)]
    days = Periods.of("2026-01-01", "2026-01-04", is_monthly=False)

    apart = sum(add_up(uses, start, end).seconds for start, end in days)

    assert apart == add_up(uses, days.first, days.end).seconds == sum(each.slot_seconds for each in uses)


def test_days_include_the_first_and_the_last() -> None:
    days = Periods.of("2026-02-27", "2026-03-01", is_monthly=False)

    assert [start.day for start, _ in days] == [27, 28, 1]
    assert days.end == datetime(2026, 3, 2, tzinfo=UTC)


def test_months_are_whole_whatever_day_is_named() -> None:
    months = Periods.of("2025-12-15", "2026-02-03", is_monthly=True)

    assert [f"{start:%Y-%m-%d}" for start, _ in months] == ["2025-12-01", "2026-01-01", "2026-02-01"]
    assert months.end == datetime(2026, 3, 1, tzinfo=UTC)


def test_a_month_is_a_date() -> None:
    assert next(iter(Periods.of("2026-01", "2026-02", is_monthly=True)))[0] == FIRST


def test_a_last_day_before_the_first_names_no_day() -> None:
    assert list(Periods.of("2026-01-02", "2026-01-01", is_monthly=False)) == []


@pytest.mark.parametrize("text", ["soon", "2026-13-01", "2026-02-30", ""])
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a date such as 2026-01-31"):
        Periods.of(text, "2026-01-01", is_monthly=False)


def test_more_than_ten_years_are_refused() -> None:
    with pytest.raises(InvalidInput, match="2000-01-01 to 2026-01-01 is more than ten years"):
        Periods.of("2000-01-01", "2026-01-01", is_monthly=False)
