"""How long to train, in batches, records or epochs, and what that is in batches. Pure."""

import json
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, model_serializer, model_validator

from resolute.domain.errors import InvalidInput
from resolute.spec.section import AsMap, AsPlain, Count, PlainOrMap, Section, fault


class Unit(StrEnum):
    BATCHES = "batches"
    RECORDS = "records"
    EPOCHS = "epochs"


class Length(Section):
    """Exactly one of the three is set: `{batches: 100}`."""

    batches: Count | None = None
    records: Count | None = None
    epochs: Count | None = None

    @model_validator(mode="after")
    def _one_unit(self) -> "Length":
        given = [unit.value for unit in Unit if getattr(self, unit.value) is not None]
        if len(given) == 1:
            return self
        if not given:
            raise fault("a length needs one unit; write for example {batches: 100}, {records: 5000} or {epochs: 2}")
        raise fault(f"a length has one unit, not {len(given)}; keep one of {', '.join(given)}", given[-1])

    @model_serializer
    def _only_the_unit_given(self) -> dict[str, int]:
        return {self.unit.value: self.units}

    @property
    def unit(self) -> Unit:
        return next(unit for unit in Unit if getattr(self, unit.value) is not None)

    @property
    def units(self) -> int:
        return int(getattr(self, self.unit.value))

    def to_batches(self, *, global_batch_size: int | None = None, records_per_epoch: int = 0) -> int:
        """Whole batches, at least one unless the length is zero. Raises InvalidInput when a size is not known."""
        if self.unit is Unit.BATCHES or self.units == 0:
            return self.units
        if not global_batch_size or global_batch_size < 1:
            raise InvalidInput(
                f"{self.units} {self.unit} cannot be counted in batches: hyperparameters.global_batch_size is"
                f" {global_batch_size!r}. Set it to the records in one batch over all slots."
            )
        return max(self._records(records_per_epoch) // global_batch_size, 1)

    def _records(self, records_per_epoch: int) -> int:
        if self.unit is Unit.RECORDS:
            return self.units
        if records_per_epoch < 1:
            raise InvalidInput(
                f"{self.units} epochs cannot be counted in batches: records_per_epoch is {records_per_epoch}."
                " Set it to the number of records in the training set."
            )
        return self.units * records_per_epoch


def is_length(value: object) -> object:
    """Refuses what is not even a map, in a user's words."""
    if isinstance(value, dict | Length):
        return value
    raise fault(f"{json.dumps(value, default=str)} is not a length; write for example {{batches: 100}}")


def _bare_units(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return is_length(value)


LengthOrUnits = Annotated[
    Annotated[Length, AsMap] | Annotated[int, BeforeValidator(_bare_units), Field(ge=1), AsPlain], PlainOrMap
]
"""A length, or a bare number whose unit only the training code knows."""


def read_length(value: object) -> Length:
    """A length out of stored JSON. A bare number counts batches."""
    return Length(batches=value) if isinstance(value, int) else Length.model_validate(value)
