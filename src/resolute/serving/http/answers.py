"""Answers that no model wrote: a status and a sentence, as bytes."""

import json
from http import HTTPStatus

from resolute.serving.http.request import Refused


def answer(status: int, sentence: str, *, retry_after_s: int | None = None, is_last: bool = False) -> bytes:
    """`is_last`: the connection is closed after it."""
    return plain(status, {"error": sentence}, retry_after_s=retry_after_s, is_last=is_last)


def plain(status: int, content: dict[str, object], *, retry_after_s: int | None = None, is_last: bool = False) -> bytes:
    body = json.dumps(content).encode()
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
    head += f"content-length: {len(body)}\r\n"
    if retry_after_s is not None:
        head += f"retry-after: {retry_after_s}\r\n"
    if status == HTTPStatus.UNAUTHORIZED:
        head += "www-authenticate: Bearer\r\n"
    if is_last:
        head += "connection: close\r\n"
    return head.encode() + b"\r\n" + body


def refuse(status: int, sentence: str, *, is_last: bool = False) -> Refused:
    return Refused(status, answer(status, sentence, is_last=is_last), is_last=is_last)
