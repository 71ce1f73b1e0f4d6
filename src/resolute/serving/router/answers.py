"""Answers of the router itself: a status and a sentence."""

import json

_REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    413: "Content Too Large",
    429: "Too Many Requests",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}


def answer(status: int, sentence: str, *, retry_after_s: int | None = None, is_last: bool = False) -> bytes:
    """`is_last`: the connection is closed after it."""
    return plain(status, {"error": sentence}, retry_after_s=retry_after_s, is_last=is_last)


def plain(status: int, content: dict[str, object], *, retry_after_s: int | None = None, is_last: bool = False) -> bytes:
    body = json.dumps(content).encode()
    head = f"HTTP/1.1 {status} {_REASONS[status]}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    if retry_after_s is not None:
        head += f"retry-after: {retry_after_s}\r\n"
    if status == 401:
        head += "www-authenticate: Bearer\r\n"
    if is_last:
        head += "connection: close\r\n"
    return head.encode() + b"\r\n" + body
