"""How long, how often: batches, epochs or records, turned into batches once the data is known. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from resolute.domain.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Batch:
    value: int


@dataclass(frozen=True, slots=True)
class Epoch:
    value: int


@dataclass(frozen=True, slots=True)
class Record:
    value: int


Length = Batch | Epoch | Record
_UNITS: dict[str, type[Batch] | type[Epoch] | type[Record]] = {"batches": Batch, "epochs": Epoch, "records": Record}


def parse_length(value: Any, name: str) -> Length | None:
    """A length as YAML has it: `{batches: 100}`, a bare number of batches, or nothing. Zero means nothing."""
    if value is None:
        return None
    if isinstance(value, Batch | Epoch | Record):
        return value if value.value > 0 else None
    if isinstance(value, int) and not isinstance(value, bool):
        return Batch(value) if value > 0 else None
    if isinstance(value, Mapping) and len(value) == 1:
        unit, count = next(iter(value.items()))
        if unit in _UNITS and isinstance(count, int):
            return _UNITS[unit](count) if count > 0 else None
    raise InvalidInput(f"{name} is {value!r}; give one of batches, records or epochs, such as {{batches: 100}}.")


def to_batches(length: Length, *, batches_per_epoch: int, global_batch_size: int) -> int:
    """At least one batch."""
    if isinstance(length, Batch):
        return max(length.value, 1)
    if isinstance(length, Epoch):
        return max(length.value * batches_per_epoch, 1)
    return max(length.value // global_batch_size, 1)
