"""Times as whole microseconds since 1970: they sort and compare alike everywhere. Pure."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def from_microseconds(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)
