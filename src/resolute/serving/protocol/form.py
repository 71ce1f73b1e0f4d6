"""A form (multipart/form-data) as browsers and `curl -F` send it, split in one pass. Parts have no parts."""

import base64
import binascii
import re
from dataclasses import dataclass

from resolute.domain.errors import InvalidInput

MOST_PARTS = 64
_MOST_HEAD_BYTES = 8192
_BOUNDARY = re.compile(r';\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))', re.IGNORECASE)
_PARAMETER = re.compile(rb'\s*;\s*([^=;\s"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*))')
_AS_IT_IS = ("", "7bit", "8bit", "binary")


@dataclass(frozen=True, slots=True)
class FormField:
    content: bytes
    content_type: str = ""
    """Of a part with a file name, as its head says; empty for plain fields."""


def read_form(content_type: str, body: bytes) -> dict[str, FormField]:
    """Fields by name, the last of equal ones. Raises InvalidInput."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise InvalidInput("The form has no boundary: Content-Type must be multipart/form-data; boundary=....")
    boundary = b"--" + (found[1] or found[2]).encode("latin-1", "replace")
    start = 0 if body.startswith(boundary) else body.find(b"\r\n" + boundary)
    fields: dict[str, FormField] = {}
    for _ in range(MOST_PARTS + 1):
        if start < 0:
            raise InvalidInput("The form does not end: the last line must be the boundary with -- behind it.")
        start = body.index(boundary, start) + len(boundary)
        if body.startswith(b"--", start):
            return fields
        end = body.find(b"\r\n" + boundary, start)
        head, separator, content = body[start : end if end >= 0 else None].partition(b"\r\n\r\n")
        if not separator or len(head) > _MOST_HEAD_BYTES:
            raise InvalidInput("A part of the form has no empty line behind its headers, or headers without end.")
        part = _described(head)
        fields[part.name] = FormField(_decoded(part.name, content, part.encoding), part.content_type)
        start = end
    raise InvalidInput(f"The form has more than {MOST_PARTS} parts; send one, called data.")


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    content_type: str
    encoding: str


def _described(head: bytes) -> _Part:
    fields = {}
    for line in head.split(b"\r\n"):
        key, _, value = line.partition(b":")
        fields[key.strip().lower()] = value
    disposition = fields.get(b"content-disposition", b"")
    name = _parameter(disposition, b"name") or b""
    is_file = _parameter(disposition, b"filename") is not None
    kind = fields.get(b"content-type", b"") if is_file else b""
    return _Part(
        name.decode("utf-8", "replace"),
        kind.partition(b";")[0].strip().lower().decode("latin-1"),
        fields.get(b"content-transfer-encoding", b"").strip().lower().decode("latin-1"),
    )


def _parameter(value: bytes, wanted: bytes) -> bytes | None:
    at = value.find(b";")
    while at >= 0 and (found := _PARAMETER.match(value, at)):
        if found[1].lower() == wanted:
            return re.sub(rb"\\(.)", rb"\1", found[2]) if found[2] is not None else found[3]
        at = found.end()
    return None


def _decoded(name: str, content: bytes, encoding: str) -> bytes:
    if encoding in _AS_IT_IS:
        return content
    if encoding != "base64":
        raise InvalidInput(f"Field {name!r} of the form is encoded as {encoding!r}; send its bytes as they are.")
    try:
        return base64.b64decode(b"".join(content.split()), validate=True)
    except binascii.Error as problem:
        raise InvalidInput(f"Field {name!r} of the form is not base64: {problem}.") from None
