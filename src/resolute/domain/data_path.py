"""Which paths a deployment answers, decided once and on the bytes that are sent on. Pure."""

import hashlib
import hmac
import re
from urllib.parse import unquote

MOST_URL_BYTES = 8192
_PLAIN = re.compile(r"/[\x21-\x7e]*")
_ESCAPED = re.compile(r"%2e|%2f|%5c|%00|%25", re.IGNORECASE)
_OF_THE_PLATFORM = re.compile(r"/(metrics|v2/repository)(/.*)?", re.IGNORECASE)


def why_ambiguous(path: str) -> str:
    """Why readers could take a path differently; empty when they cannot. `path` is without its query."""
    if not _PLAIN.fullmatch(path):
        return "it must begin with / and have printable ASCII characters only"
    if "\\" in path or "//" in path or "#" in path:
        return "it has a backslash, a double slash or a fragment"
    if _ESCAPED.search(path):
        return "it has an escaped dot, slash, backslash, percent sign or NUL"
    if {".", ".."} & set(path.split("/")):
        return "it has a segment . or .."
    return ""


def is_for_the_platform(path: str) -> bool:
    """Loading, unloading and counting are not for callers. `path` is without `/serving/<name>` and its query."""
    return _OF_THE_PLATFORM.fullmatch(unquote(path)) is not None


def forward_proof(token: str, deployment_id: int) -> str:
    """What the master shows the router for a caller whom it has checked, good for this deployment alone."""
    proof = hmac.new(token.encode(), f"deployment/{deployment_id}".encode(), hashlib.sha256).hexdigest()
    return f"{deployment_id}.{proof}"
