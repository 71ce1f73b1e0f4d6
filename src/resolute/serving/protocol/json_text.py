"""JSON in, with the place of a fault in the message. Values that only the model looks at stay bytes (`msgspec.Raw`)."""

from typing import Any, TypeVar

import msgspec

from resolute.domain.errors import InvalidInput

T = TypeVar("T")


def parse(decoder: "msgspec.json.Decoder[T]", body: bytes | memoryview, *, wanted: str) -> T:
    """Raise InvalidInput with the byte of a syntax fault, or the field of a wrong type; `wanted` shows what to send."""
    if not body:
        raise InvalidInput(f"The request has no body. Send {wanted}.")
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as problem:
        raise InvalidInput(f"The request is not as the protocol wants it: {problem}. Send {wanted}.") from None
    except msgspec.DecodeError as problem:
        raise InvalidInput(f"The request is not valid JSON: {_place(problem, len(body))}. Send {wanted}.") from None
    except UnicodeDecodeError as problem:
        raise InvalidInput(f"The request is not UTF-8 text: byte {problem.start}. Send {wanted}.") from None
    except RecursionError:
        raise InvalidInput("The request is nested too deeply to be read. Send lists of fewer levels.") from None


def render(value: Any) -> bytes:
    """Numbers that JSON has no word for (NaN, infinity) become null."""
    return msgspec.json.encode(value, enc_hook=_plain)


def _place(problem: Exception, size: int) -> str:
    text = str(problem).removeprefix("JSON is malformed: ")
    return text if "(byte" in text else f"it ends too early (byte {size})"


def _plain(value: Any) -> Any:
    """numpy's and torch's scalars and arrays, without importing either: models answer with them."""
    for method in ("tolist", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    raise InvalidInput(f"The model answered with a {type(value).__name__}, which JSON has no form for.")
