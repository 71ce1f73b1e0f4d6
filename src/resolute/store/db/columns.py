"""Column types that carry domain values: aware times, enums, JSON documents and tuples.

Times are whole microseconds since 1970, so that they sort and compare alike in every database.
Documents are JSON text written by the standard library, which keeps NaN, Infinity and integers of any size.
"""

import json
from dataclasses import asdict
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, Dialect, String, Text
from sqlalchemy.types import TypeDecorator

from resolute.domain.allocation import NodeShare
from resolute.store.moment import from_microseconds, to_microseconds

LIST_SEPARATOR = ",\n"
"""Between the elements of a tuple column. JSON escapes newlines inside strings, so an element can be searched for."""

document = json.JSONEncoder(separators=(",", ":")).encode
"""A JSON value as the text of a `Document` column."""
_elements = json.JSONEncoder(separators=(LIST_SEPARATOR, ":")).encode


class Moment(TypeDecorator[datetime]):
    """An aware time, stored as microseconds."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else to_microseconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else from_microseconds(value)


class Choice(TypeDecorator[StrEnum]):
    """A member of a `StrEnum`, stored as its value."""

    impl = String(32)
    cache_ok = True

    def __init__(self, options: type[StrEnum]) -> None:
        super().__init__()
        self.options = options

    def process_bind_param(self, value: StrEnum | None, dialect: Dialect) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> StrEnum | None:
        return None if value is None else self.options(value)


class Document(TypeDecorator[Any]):
    """Any JSON value; None is NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else document(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


class Elements(TypeDecorator[tuple[object, ...]]):
    """A tuple of JSON values."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[Any, ...] | None, dialect: Dialect) -> str | None:
        return _elements(value or ())

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[Any, ...]:
        return tuple(json.loads(value)) if value else ()


class Shares(TypeDecorator[tuple[NodeShare, ...]]):
    """The slots that an allocation holds, as `[[node id, [slot ids]], ...]`, with the address where there is one."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[NodeShare, ...] | None, dialect: Dialect) -> str:
        return document([_share(share) for share in value or ()])

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[NodeShare, ...]:
        return tuple(
            NodeShare(node_id, tuple(slot_ids), *address) for node_id, slot_ids, *address in json.loads(value or "[]")
        )


def _share(share: NodeShare) -> list[Any]:
    return [share.node_id, share.slot_ids, *([share.address] if share.address else [])]


class Record(TypeDecorator[Any]):
    """A flat dataclass, stored as a JSON object. Fields that a newer release added get their defaults."""

    impl = Text
    cache_ok = True

    def __init__(self, of: type[Any]) -> None:
        super().__init__()
        self.of = of

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else document(asdict(value))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else self.of(**json.loads(value))


class Records(TypeDecorator[tuple[object, ...]]):
    """A tuple of flat dataclasses, stored as a JSON array of objects."""

    impl = Text
    cache_ok = True

    def __init__(self, of: type[Any]) -> None:
        super().__init__()
        self.of = of

    def process_bind_param(self, value: tuple[Any, ...] | None, dialect: Dialect) -> str:
        return document([asdict(item) for item in value or ()])

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[Any, ...]:
        return tuple(self.of(**item) for item in json.loads(value or "[]"))
