"""Follows one process to its end: its output into the log, orders to it, its exit code back."""

import os
import select
import signal
import time

from resolute.domain.log import LogLevel, LogStream
from resolute.runners.shepherd.orders import Orders
from resolute.runners.shepherd.processes import Child, exit_code_of, kill_descendants, send
from resolute.runners.shepherd.task_log import UNFINISHED_LINE_S, OutputStream, TaskLog, now_us

_READ_BYTES = 256 * 1024
_IDLE_S = 60.0
_SWEEP_S = 0.1
_DRAIN_S = 10.0
"""How long pipes are read after the process ended, should something that is not ours hold them open."""


def follow(child: Child, *, log: TaskLog, orders: Orders, heard: list[bytes] | None = None) -> int:
    """The exit code, once the process and everything it left behind are gone. What it writes to standard error is
    also added to `heard`."""
    streams = {child.out: OutputStream(LogStream.STDOUT), child.err: OutputStream(LogStream.STDERR)}
    exit_code: int | None = None
    ended_at = 0.0
    has_left_some = is_told = False
    while exit_code is None or has_left_some or (streams and time.monotonic() - ended_at < _DRAIN_S):
        longest_wait = _IDLE_S if exit_code is None else _SWEEP_S
        log.append(_read(streams, orders.wakeups, longest_wait, child.err, heard))
        for number in orders.take():
            send(child.pid, number)
        if exit_code is None:
            exit_code = exit_code_of(child.pid)
            ended_at = time.monotonic()
            if exit_code is not None:
                # As in a container: when the entrypoint is gone, so is all that it started.
                send(child.pid, signal.SIGKILL)
                has_left_some = kill_descendants()
        else:
            exit_code_of(child.pid)  # buries what was killed
            has_left_some = kill_descendants()
            if has_left_some and not is_told and time.monotonic() - ended_at > _DRAIN_S:
                is_told = True
                log.say("Some of its processes were killed and do not die. It ends when they have.", LogLevel.WARNING)
    for descriptor in streams:
        os.close(descriptor)
    return exit_code


def _read(
    streams: dict[int, OutputStream], wakeups: int, longest_wait: float, err: int, heard: list[bytes] | None
) -> bytes:
    """Records for what can be read now. Pipes that reached their end are closed and left out of `streams`."""
    if any(stream.is_pending for stream in streams.values()):
        longest_wait = min(longest_wait, UNFINISHED_LINE_S)
    ready, _, _ = select.select([*streams, wakeups], [], [], longest_wait)
    timestamp_us, now = now_us(), time.monotonic()
    records: list[bytes] = []
    for descriptor, stream in list(streams.items()):
        if descriptor not in ready:
            records.append(stream.flush(timestamp_us=timestamp_us, now=now))
            continue
        chunk = os.read(descriptor, _READ_BYTES)
        if heard is not None and descriptor == err:
            heard.append(chunk)
        if chunk:
            records.append(stream.feed(chunk, timestamp_us=timestamp_us, now=now))
            continue
        records.append(stream.flush(timestamp_us=timestamp_us, now=now, is_end=True))
        os.close(descriptor)
        del streams[descriptor]
    return b"".join(records)
