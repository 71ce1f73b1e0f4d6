"""What every part of a configuration shares: strict types, no unknown keys, null means the default.

Pydantic checks the parts; `fault` lets a check that compares two keys point at the one to change. Turning what
pydantic found into sentences is `problem.py`'s work, not done here.
"""

from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    Tag,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from resolute.spec.limits import MAX_RUNGS, MAX_SLOTS, MAX_TRIALS


class Section(BaseModel):
    """Base of all configuration models. JSON comes out of `resolved()` with every default filled in."""

    # Checks are built when the first document is read, not while the program starts.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _prepare(cls, data: object, info: ValidationInfo) -> object:
        if not isinstance(data, dict):
            return data
        if isinstance(info.context, dict):
            # Lets an error report offer the keys that this very mapping could have had.
            info.context[id(data)] = cls
        return cls.prepared(data)

    @classmethod
    def prepared(cls, data: dict[str, object]) -> dict[str, object]:
        """Rewrite what was written before it is checked. A key that is null is the same as one left out."""
        return {key: value for key, value in data.items() if value is not None}

    def resolved(self) -> dict[str, object]:
        return self.model_dump(mode="json")


def fault(message: str, *key: str | int) -> PydanticCustomError:
    """An error at `key`, relative to the section that raises it. `message` is a sentence with its remedy."""
    return PydanticCustomError("fault", "{message}", {"message": message, "key": key})


def _whole(value: object) -> object:
    # JSON knows one kind of number: 4.0 is as whole as 4.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _plain_or_list(value: object) -> str:
    return "<list>" if isinstance(value, list) else "<plain>"


def _plain_or_map(value: object) -> str:
    return "<map>" if isinstance(value, dict | BaseModel) else "<plain>"


def _short(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value


# A key with two forms picks one by its shape, so that an error speaks of that form only.
AsMap, AsList, AsPlain = Tag("<map>"), Tag("<list>"), Tag("<plain>")
PlainOrList = Discriminator(_plain_or_list)
PlainOrMap = Discriminator(_plain_or_map)

Number = Annotated[float, PlainSerializer(_short)]
_LARGEST = 2**63 - 1  # what databases and other languages can hold
Whole = Annotated[int, BeforeValidator(_whole), Field(ge=-_LARGEST, le=_LARGEST)]
Count = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=_LARGEST)]
Positive = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=_LARGEST)]
Trials = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=MAX_TRIALS)]
Rungs = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=MAX_RUNGS)]
Slots = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=MAX_SLOTS)]
Fraction = Annotated[float, Field(ge=0, le=1)]


def _without_nul(value: str) -> str:
    if "\0" in value:
        raise fault("has a NUL byte (\\0), which no command line or file name can carry; take it out")
    return value


Text = Annotated[str, Field(min_length=1), AfterValidator(_without_nul)]
OneOrMore = BeforeValidator(_listed)
