"""How much a client may send, in what time, and over how many connections. Checked while bytes come in, not after."""

import resource
from dataclasses import dataclass

from resolute.domain.data_path import MOST_URL_BYTES

_KEPT_FREE = 128
"""File descriptors for everything that is no client: replicas' pipes, logs, listening sockets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    url_bytes: int = MOST_URL_BYTES
    head_bytes: int = 64 << 10
    """Of the request line and all headers."""
    headers: int = 128
    head_s: float = 20.0
    """From the first byte of a request to the end of its headers."""
    body_pause_s: float = 30.0
    """A body gets this long, and a second more for every `least_bytes_per_s` that have come."""
    least_bytes_per_s: int = 1024
    idle_s: float = 75.0
    """Between two requests, and before the first."""
    write_s: float = 60.0
    """For a client that takes nothing of its answer."""
    connections: int = 10_000
    """When there are more, those that are owed no answer make room, the oldest first."""


def limits_of_process(files_per_connection: int = 1) -> HttpLimits:
    """As many connections as this process may have files, after raising its soft limit to the hard one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    most = HttpLimits().connections
    if soft == resource.RLIM_INFINITY:
        return HttpLimits()
    return HttpLimits(connections=max(16, min(most, (soft - _KEPT_FREE) // files_per_connection)))
