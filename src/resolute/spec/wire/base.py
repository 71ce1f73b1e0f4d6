"""How every message travels: camelCase out, either spelling in, zero values always present. Pure.

`Int64` is a string on the wire, `Time` is RFC 3339 in UTC with `Z`, and `Number` writes NaN and infinities as strings,
because the clients we honour expect exactly that.
"""

import math
import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, model_validator
from pydantic.alias_generators import to_camel

JsonObject = dict[str, object]


class Wire(BaseModel):
    """A message. Unknown keys are ignored, so newer clients may send more."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="ignore",
        ser_json_inf_nan="strings",
        protected_namespaces=(),
        json_schema_serialization_defaults_required=True,
        # Hundreds of messages: each is built when it first travels, not while the program starts.
        defer_build=True,
    )


class Request(Wire):
    """A message to us. An explicit null says the same as a key left out: clients send both."""

    @model_validator(mode="before")
    @classmethod
    def _forget_nulls(cls, message: object) -> object:
        if isinstance(message, dict):
            _require_unicode(message)
            return {key: value for key, value in message.items() if value is not None}
        return message


def _require_unicode(value: object) -> None:
    """JSON may carry half of a surrogate pair (`"\\ud800"`), which can be neither stored nor sent back."""
    if isinstance(value, str):
        if not value.isascii() and _SURROGATE.search(value):
            raise ValueError("a text has half of a surrogate pair; send valid Unicode")
    elif isinstance(value, dict):
        for key, each in value.items():
            _require_unicode(key)
            _require_unicode(each)
    elif isinstance(value, list):
        for each in value:
            _require_unicode(each)


_SURROGATE = re.compile("[\ud800-\udfff]")


class Empty(Wire):
    """`{}`."""


def to_rfc3339(moment: datetime) -> str:
    """UTC with microseconds and `Z`. A naive time is taken as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def json_number(value: float) -> float | str:
    """A finite number as it is; NaN and infinities by name."""
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def parse_number(value: object) -> object:
    """Inverse of `json_number`, in every spelling clients are known to use; other values pass through."""
    if isinstance(value, str):
        return _SPELLED.get(value.lower(), value)
    return value


_SPELLED = {
    "nan": math.nan,
    "infinity": math.inf,
    "inf": math.inf,
    "+infinity": math.inf,
    "-infinity": -math.inf,
    "-inf": -math.inf,
}


def json_safe(value: object) -> object:
    """A copy of a JSON value in which NaN and infinities are spelled out, at any depth."""
    if isinstance(value, float):
        return json_number(value)
    if isinstance(value, dict):
        return {str(k): json_safe(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_safe(v) for v in value]
    return value


Int64 = Annotated[int, PlainSerializer(str, return_type=str)]
Time = Annotated[datetime, PlainSerializer(to_rfc3339, return_type=str)]
Number = Annotated[float, BeforeValidator(parse_number), PlainSerializer(json_number, return_type=float | str)]
