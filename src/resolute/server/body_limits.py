"""How large the body of a request may be, by what the route is for. Pure.

A body is parsed in one piece while other requests wait, so none may be larger than its route has use for, and the
number of values in it is limited as well: a hundred MiB of files is parsed in a moment, a hundred MiB of brackets is
not.
"""

import re

KIB, MIB = 1024, 1024**2

MAX_BODY_BYTES = 128 * MIB
"""Of uploads: a model definition in base64, or the manifest of a dataset."""
DEFAULT_BYTES = MIB
LOGIN_BYTES = 8 * KIB
"""The only body that is read from strangers."""
MAX_VALUES = 2_000_000
"""Commas and opening brackets. An upload of 100,000 files has about 900,000."""

_LARGER = (
    (
        MAX_BODY_BYTES,
        r"/api/v1/(experiments|experiments/(dry-run|by-external-id/[^/]+)|datasets|notebooks|tensorboards|shells|commands"
        r"|generic-tasks)",
    ),
    (32 * MIB, r"/api/v1/trials/[^/]+/(metrics|metrics/batch|training_metrics|validation_metrics)"),
    (32 * MIB, r"/api/v1/trials/profiler/metrics"),
    (16 * MIB, r"/api/v1/checkpoints(/.*)?"),
    (16 * MIB, r"/api/v1/allocations/[^/]+/all_gather"),
    (16 * MIB, r"/api/v1/experiments/[^/]+/searcher/actions"),
    (8 * MIB, r"/api/v1/task/logs|/task-logs"),
    (8 * MIB, r"/api/v1/allocations/[^/]+/resources/[^/]+/logs"),
    # A configuration has up to 1 MB of text, and JSON may write a character in six.
    (8 * MIB, r"/api/v1/(experiments/.*|preview-hp-search|templates/.*|projects/.*|models(/.*)?|deployments(/.*)?)"),
)
_PATTERNS = tuple((limit, re.compile(pattern)) for limit, pattern in _LARGER)
_TEXT = re.compile(r"/api/v1/task/logs|/task-logs|/api/v1/allocations/[^/]+/resources/[^/]+/logs")
"""Log lines are full of commas and brackets that are no values."""


def bytes_for(path: str) -> int:
    if path == "/api/v1/auth/login":
        return LOGIN_BYTES
    return next((limit for limit, pattern in _PATTERNS if pattern.fullmatch(path)), DEFAULT_BYTES)


def values_for(path: str) -> int | None:
    """None: not counted."""
    return None if _TEXT.fullmatch(path) else MAX_VALUES


def values_in(chunk: bytes) -> int:
    return chunk.count(b",") + chunk.count(b"[") + chunk.count(b"{")
