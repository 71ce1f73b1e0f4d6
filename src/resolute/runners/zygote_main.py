"""Entry of every process the local runner starts, in any Python 3.11 environment, with or without `resolute` in it.

    zygote_main.py shepherd <run directory>     one gang; whatever it runs starts cold; ends with its exit code
    zygote_main.py serve <socket> <modules>     load modules once, then fork a shepherd per message until the master is
                                                gone; a message is a run's mark and directory, the answer is a pid

Run by path. The serving process has one thread and never touches a GPU: that is what makes its forks sound.
"""

import atexit
import contextlib
import ctypes
import functools
import gc
import json
import os
import signal
import socket
import sys
import time
import types
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_NOTHING_DONE = 75
"""Another process has the run in hand."""
_PACKAGE = Path(__file__).resolve().parent.parent
_LONGEST_MESSAGE = 64 * 1024
_LARGE_PAGE = 2 * 1024**2
_MADV_HUGEPAGE, _MADV_COLLAPSE = 14, 25


def main(mode: str, *arguments: str) -> None:
    if sys.path[0] == str(Path(__file__).parent):
        del sys.path[0]
    if mode == "serve":
        serve(int(arguments[0]), arguments[1].split(","))
        return
    own = _own_modules()
    run = own["run_directory"].RunDirectory(Path(arguments[0]))
    own["session"].shepherd(run)
    ended = run.exit()
    sys.exit(ended.code if ended is not None else _NOTHING_DONE)


def serve(descriptor: int, modules: list[str]) -> None:
    own_env = dict(os.environ)
    base_path = list(sys.path)
    os.environ["OMP_NUM_THREADS"] = "1"
    # Threads that a child may add later nap after 2^20 cycles without work instead of burning a core for 2^26.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    own = _own_modules()
    began = time.monotonic()
    with _disowned_teardown():
        loaded = [name for name in modules if name and _load(name)]
        if "torch" in loaded:
            _take_a_step()
    gc.collect()
    gc.freeze()
    _use_large_pages()
    threads = len(os.listdir("/proc/self/task"))
    channel = socket.socket(fileno=descriptor)
    ready = {"loaded": loaded, "threads": threads, "seconds": round(time.monotonic() - began, 3)}
    channel.send(json.dumps(ready).encode())
    if threads == 1:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # forked shepherds need nobody to bury them
        _fork_until_alone(channel, own, own_env, base_path)


def _fork_until_alone(
    channel: socket.socket, own: dict[str, Any], own_env: dict[str, str], base_path: list[str]
) -> None:
    warmth = own["session"].Warmth(own_env, functools.partial(own["python_child"].run_python, base_path=base_path))
    while message := channel.recv(_LONGEST_MESSAGE):
        pid = os.fork()
        if pid == 0:
            channel.close()
            mark, path = message.decode().split(" ", 1)
            run = own["run_directory"].RunDirectory(Path(path))
            _detach(run.path)
            own["ownership"].wear(mark)
            own["session"].shepherd(run, warmth)
            os._exit(0)
        channel.send(str(pid).encode())
    os._exit(0)


def _detach(run: Path) -> None:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    errors = os.open(run / "shepherd.err", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(errors, 2)
    os.close(errors)


def _own_modules() -> dict[str, Any]:
    """This copy's modules, loaded without the package's own `__init__` and without staying visible: user code that
    imports `resolute` gets what its environment has."""
    package = types.ModuleType("resolute")
    package.__path__ = [str(_PACKAGE)]
    sys.modules["resolute"] = package
    from resolute.runners.shepherd import ownership, python_child, run_directory, session

    for name in [name for name in sys.modules if name.partition(".")[0] == "resolute"]:
        del sys.modules[name]
    return {
        "ownership": ownership,
        "python_child": python_child,
        "run_directory": run_directory,
        "session": session,
    }


def _load(name: str) -> bool:
    try:
        __import__(name)
    except Exception as error:  # an environment without it, or with a broken one: trials start without its warmth
        print(f"{name} is not loaded: {error}", file=sys.stderr)
        return False
    return True


def _take_a_step() -> None:
    """One optimizer step loads all that torch loads lazily. Without a backward pass and with CUDA declared absent:
    either would count devices, and a process that has counted them cannot use them after a fork."""
    import torch

    available = torch.cuda.is_available
    torch.cuda.is_available = lambda: False
    try:
        torch.set_num_threads(1)
        parameter = torch.nn.Parameter(torch.zeros(1))
        parameter.grad = torch.zeros(1)
        for optimizer in (torch.optim.SGD([parameter], lr=0.1), torch.optim.Adam([parameter], lr=0.1)):
            optimizer.step()
    finally:
        torch.cuda.is_available = available


@contextlib.contextmanager
def _disowned_teardown() -> Iterator[None]:
    """Forget what extension modules loaded here register to take themselves apart at exit: 90 ms per trial for torch's
    operator tables, for memory that goes with the process anyway. Handlers written in Python stay, and those that
    user code registers later run as ever."""
    register = atexit.register
    registered: list[Any] = []

    def noting(handler: Any, *arguments: Any, **options: Any) -> Any:
        registered.append(handler)
        return register(handler, *arguments, **options)

    atexit.register = noting  # type: ignore[assignment]
    try:
        yield
    finally:
        atexit.register = register
    for handler in registered:
        if not getattr(getattr(handler, "__code__", None), "co_filename", "").endswith(".py"):
            atexit.unregister(handler)
    for finalizer in vars(weakref.finalize)["_registry"].values():
        finalizer.atexit = False


def _use_large_pages() -> None:
    """Gather memory into 2 MiB pages, so that a fork copies hundreds of table entries instead of 100,000: 3 ms instead
    of 12. Where the kernel cannot (before Linux 6.1, or not permitted) forks are merely slower."""
    libc = ctypes.CDLL(None)
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, permissions, *_rest, path = f"{line} -".split(maxsplit=5)
        if permissions != "rw-p" or not path.startswith(("-", "[heap]")):
            continue
        start, end = (int(address, 16) for address in addresses.split("-"))
        start, end = -(-start // _LARGE_PAGE) * _LARGE_PAGE, end // _LARGE_PAGE * _LARGE_PAGE
        for advice in (_MADV_HUGEPAGE, _MADV_COLLAPSE) if end > start else ():
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), advice)


if __name__ == "__main__":
    main(*sys.argv[1:])
