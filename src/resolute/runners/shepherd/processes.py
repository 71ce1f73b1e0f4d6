"""The processes of a gang: starting one in a session of its own, ending it with all that it started."""

import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from resolute.runners.shepherd.orders import ORDERS

_PIPE_BYTES = 1024 * 1024
_MORE_THAN_ANY_DESCRIPTOR = 1 << 20
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Child:
    """Leader of its session; `out` and `err` are our ends of its pipes."""

    pid: int
    out: int
    err: int


def execute(argv: list[str], *, env: dict[str, str], cwd: Path, become: Callable[[], None] | None = None) -> Child:
    """`become`: called in the new process before it is executed. Raises OSError when there is nothing to execute."""
    process = subprocess.Popen(
        argv,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=become,  # sound: this process has one thread
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.returncode = 0  # waited for by `exit_code_of`, not by the Popen object
    return _widened(Child(process.pid, os.dup(process.stdout.fileno()), os.dup(process.stderr.fileno())))


def fork(run: Callable[[], None], *, cwd: Path) -> Child:
    """A copy of this process that calls `run`, which must end it."""
    out, out_end = os.pipe()
    err, err_end = os.pipe()
    # Orders that arrive before the copy has handlers of its own wait for them instead of being taken for ours.
    signal.pthread_sigmask(signal.SIG_BLOCK, ORDERS)
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            os.dup2(out_end, 1)
            os.dup2(err_end, 2)
            os.closerange(3, _MORE_THAN_ANY_DESCRIPTOR)
            os.chdir(cwd)
            run()
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(1)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ORDERS)
    os.close(out_end)
    os.close(err_end)
    return _widened(Child(pid, out, err))


def exit_code_of(pid: int) -> int | None:
    """None while it runs. Orphans that were adopted meanwhile are buried on the way."""
    code: int | None = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
            if ended[0] == pid:
                status = os.waitstatus_to_exitcode(ended[1])
                code = status if status >= 0 else 128 - status
    return code


def explained(code: int) -> str:
    """A sentence for an exit code; empty for success."""
    if code <= 128:
        return "" if code == 0 else f"The entrypoint ended with exit code {code}."
    with contextlib.suppress(ValueError):
        return f"The entrypoint was ended by {signal.Signals(code - 128).name}."
    return f"The entrypoint ended with exit code {code}."


def send(leader: int, number: int) -> None:
    """To its whole group; SIGKILL also to what left the group."""
    with contextlib.suppress(PermissionError):
        try:
            os.killpg(leader, number)
        except ProcessLookupError:
            # Just forked, and not yet the leader of a group; or gone.
            with contextlib.suppress(ProcessLookupError):
                os.kill(leader, number)
    if number == signal.SIGKILL:
        kill_descendants()


def kill_descendants() -> bool:
    """All that was started from here, also in sessions of their own. True: some were found; look again."""
    found = _descendants(os.getpid())
    for pid in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return bool(found)


def adopt_orphans() -> None:
    """Processes whose parents die become our children, so that none is left behind. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *_descendants(int(child))]
    return found


def _widened(child: Child) -> Child:
    """Larger pipes: fewer turns per megabyte of output."""
    if sys.platform == "linux":
        for descriptor in (child.out, child.err):
            with contextlib.suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return child
