"""TorchServe's predictions: the fields of a request as its handlers get them, and their answers as bytes.

A body is the field `body`; a form is a field for each of its parts, the last of equal names. Text is `str`, JSON is
what it says, everything else a `bytearray`. Contents travel as they came and are read beside the model.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from resolute.domain.errors import InvalidInput
from resolute.serving.protocol.form import read_form
from resolute.serving.protocol.json_text import render
from resolute.serving.worker_frames import Buffer, FieldHead

_JSON = "application/json"
_MULTIPART = "multipart/form-data"
_URLENCODED = "application/x-www-form-urlencoded"
_MOST_FIELDS = 1000
_any = msgspec.json.Decoder()
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]{0,8000}")
_OURS = frozenset(
    {"connection", "content-length", "content-type", "date", "keep-alive", "server", "trailer", "transfer-encoding"}
    | {"upgrade", "set-cookie", "x-request-id"}
)
"""Headers that a handler cannot set: framing is the server's, and cookies would count for all of its host."""


def read_fields(content_type: str, body: bytes) -> tuple[list[FieldHead], list[Buffer]]:
    """Raises InvalidInput for a form that cannot be read."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == _MULTIPART:
        form = read_form(content_type, body)
        return [FieldHead(name, part.content_type) for name, part in form.items()], [p.content for p in form.values()]
    if kind == _URLENCODED:
        pairs = _pairs(body)
        return [FieldHead(name, "") for name in pairs], list(pairs.values())
    return [FieldHead("body", kind)], [body]


def field_value(content_type: str, content: Buffer) -> Any:
    """As a handler's row holds it. What says to be JSON and is not stays bytes."""
    if content_type == _JSON:
        try:
            return _any.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return bytearray(content)
    if content_type.startswith("text"):
        try:
            return bytes(content).decode()
        except UnicodeDecodeError as problem:
            raise InvalidInput(f"The text is not UTF-8: byte {problem.start}. Send it as UTF-8.") from None
    return bytearray(content)


def header_map(heads: Sequence[FieldHead], headers: Mapping[str, str]) -> dict[str, Any]:
    """What `context.get_request_header` looks into: the fields' types, then the request's own headers."""
    return {**{head.name: {"content-type": head.content_type} for head in heads}, **headers, "url_path": ""}


def write_answer(answer: Any, content_type: str | None) -> tuple[bytes, str]:
    """Content and type of a handler's answer: text and bytes as they are, everything else as JSON."""
    if isinstance(answer, bytes | bytearray | memoryview):
        return bytes(answer), content_type or "application/octet-stream"
    if isinstance(answer, str):
        return answer.encode(), content_type or "text/plain; charset=utf-8"
    return render(answer), content_type or _JSON


def is_passed_on(name: str, value: str) -> bool:
    """A header of the handler's that may stand in the answer."""
    return bool(_TOKEN.fullmatch(name) and _VALUE.fullmatch(value)) and name.lower() not in _OURS


def _pairs(body: bytes) -> dict[str, bytes]:
    try:
        found = parse_qsl(body.decode("latin-1"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise InvalidInput(f"The form has more than {_MOST_FIELDS} fields; send fewer.") from None
    return {name: value.encode() for name, value in found}
