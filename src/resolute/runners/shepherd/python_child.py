"""Stands in for a fresh `python3 script.py` or `python3 -m module` inside a process that was forked warm.

User code must not be able to tell, except by the clock: same arguments, import path, environment, random state,
signal handling, output, tracebacks and exit code. Imports the standard library only.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib.machinery
import io
import os
import runpy
import shutil
import signal
import site
import sys
import threading
import types
from typing import Any, Literal, NoReturn

from resolute.runners.shepherd.entrypoint import PythonCommand
from resolute.runners.shepherd.orders import reset_signals

_SIGINT_EXIT = 128 + signal.SIGINT
_COULD_NOT_FLUSH = 120
_THREAD_SETTERS = ("scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads", "openblas_set_num_threads")


def run_python(command: PythonCommand, env: dict[str, str], *, base_path: list[str]) -> NoReturn:
    """Ends the process with the exit code that the command would have had."""
    reset_signals()
    _set_environment(env)
    _open_streams()
    _set_arguments(command, base_path)
    _refresh_random_state()
    _raise_threads(_thread_count(env.get("OMP_NUM_THREADS", "")))
    _run_sitecustomize(env)
    main = types.ModuleType("__main__")
    vars(main)["__builtins__"] = __builtins__
    vars(main)["__annotations__"] = {}
    sys.modules["__main__"] = main
    _leave(_exit_code(command, main), main)


def _set_environment(env: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(env)
    sys.dont_write_bytecode = bool(env.get("PYTHONDONTWRITEBYTECODE"))


def _open_streams() -> None:
    """Lines of output are visible at once, also when standard output is a pipe."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdin = sys.__stdin__ = _text(0, "strict", "r")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _text(1, "strict")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _text(2, "backslashreplace")  # type: ignore[misc]


def _text(descriptor: int, errors: str, mode: Literal["r", "w"] = "w") -> io.TextIOWrapper:
    return open(descriptor, mode, encoding="utf-8", errors=errors, closefd=False, buffering=1)


def _set_arguments(command: PythonCommand, base_path: list[str]) -> None:
    first = os.getcwd() if command.is_module else os.path.dirname(os.path.realpath(command.target))
    extra = [entry or os.getcwd() for entry in _python_path()]
    sys.path[:] = [first, *extra, *base_path]
    sys.executable = shutil.which(command.interpreter) or sys.executable
    sys.argv[:] = ["-m" if command.is_module else command.target, *command.arguments]
    sys.orig_argv[:] = command.argv


def _python_path() -> list[str]:
    value = os.environ.get("PYTHONPATH", "")
    return value.split(os.pathsep) if value else []


def _refresh_random_state() -> None:
    """Fresh interpreters draw different numbers unless they are seeded. Python's own generator seeds itself after a
    fork; numpy's and torch's do not."""
    random = getattr(sys.modules.get("numpy"), "random", None)
    if random is not None:
        random.seed()
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.default_generator.seed()


def _thread_count(omp_num_threads: str) -> int:
    """OpenMP allows one number per level of nesting; the first counts."""
    first = omp_num_threads.partition(",")[0].strip()
    return int(first) if first.isdigit() else 1


def _raise_threads(count: int) -> None:
    """Libraries were loaded with one thread, which is the only safe number to fork with."""
    if count <= 1:
        return
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(count)
    if "numpy" in sys.modules:
        _raise_blas_threads(count)


def _raise_blas_threads(count: int) -> None:
    with open("/proc/self/maps") as maps:
        libraries = {line.split(maxsplit=5)[5].strip() for line in maps if "openblas" in line}
    for library in libraries:
        loaded = ctypes.CDLL(library)
        setter = next((name for name in _THREAD_SETTERS if hasattr(loaded, name)), None)
        if setter is not None:
            getattr(loaded, setter)(count)


def _run_sitecustomize(env: dict[str, str]) -> None:
    """As an interpreter does at its start; the one of the environment itself ran when the process was warmed."""
    if any(os.path.exists(os.path.join(entry, "sitecustomize.py")) for entry in _python_path()):
        sys.modules.pop("sitecustomize", None)
        site.execsitecustomize()


def _exit_code(command: PythonCommand, main: types.ModuleType) -> int:
    try:
        if command.is_module:
            runpy._run_module_as_main(command.target)  # type: ignore[attr-defined]
        else:
            _run_script(command.target, main)
    except SystemExit as leaving:
        return _code_of(leaving.code)
    except BaseException as error:
        _report(error)
        if isinstance(error, KeyboardInterrupt):
            return _SIGINT_EXIT
        return 1
    return 0


def _run_script(script: str, main: types.ModuleType) -> None:
    path = os.path.abspath(script)
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    main.__file__ = path
    main.__loader__ = loader
    vars(main)["__cached__"] = None
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, vars(main))


def _code_of(code: Any) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _report(error: BaseException) -> None:
    """The traceback a fresh interpreter would print: it knows nothing of the frames that led here."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)


def _leave(code: int, main: types.ModuleType) -> NoReturn:
    """End as an interpreter does: threads, exit handlers, objects of the script, open files. What was loaded before
    the fork is left alone: taking torch apart costs more than most short trials run."""
    for step in (threading._shutdown, atexit._run_exitfuncs):  # type: ignore[attr-defined]
        try:
            step()
        except BaseException as error:
            _report(error)
    vars(main).clear()
    gc.collect()
    if not _flush_everything():
        code = code or _COULD_NOT_FLUSH
    if code == _SIGINT_EXIT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code)


def _flush_everything() -> bool:
    """Files that were left open, output of C libraries, and the standard streams. False: some output is lost."""
    for left_open in gc.get_objects():
        if isinstance(left_open, io.TextIOWrapper | io.BufferedWriter) and not left_open.closed:
            with contextlib.suppress(OSError, ValueError):
                left_open.flush()
    ctypes.CDLL(None).fflush(None)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return False
    return True
