"""Which part of a batch is in the log: whatever was torn and whoever wrote in between, its records are there once."""

from hypothesis import given
from hypothesis import strategies as st

from resolute.store.log_batches import missing_part

LINES = [b"%016d 0000 oI record %d\n" % (n, n) for n in range(5)]
RECORDS = b"".join(LINES)
EVENTS = st.lists(st.one_of(st.integers(0, len(RECORDS) + 30), st.just("other"), st.just("same lines of another")))


def append(log: bytes, content: bytes) -> bytes:
    """As every writer does: a line that was left open gets an end."""
    return log + (b"\n" if log and not log.endswith(b"\n") else b"") + content


def deliver(log: bytes, name: str = "a.0 1", written: int = 10**6) -> bytes:
    """One try, which dies after `written` bytes."""
    missing, is_torn = missing_part(log, name, RECORDS, begin=0)
    return log + missing[:written] if is_torn or not missing else append(log, missing[:written])


@given(EVENTS)
def test_any_number_of_torn_tries_leave_each_record_once_and_in_order(events: list[int | str]) -> None:
    log, others = b"", 0
    for number, event in enumerate(events):
        if isinstance(event, int):
            log = deliver(log, written=event)
        elif event == "other":
            log = append(log, b"other\n")
        else:
            log = deliver(log, f"b.{number} 1")
            others += 1

    log = deliver(log)

    assert deliver(log) == log
    whole = [line for line in log.splitlines(keepends=True) if line in LINES]
    assert sorted(whole) == sorted(LINES * (others + 1))
    assert others or whole == LINES
    assert log.count(b"other\n") == events.count("other")
