"""From a request to an exit code: prepares the run directory, starts the entrypoint, follows it, and writes down how
it ended. One process, one thread, no memory of the master. Nothing but its own SIGKILL ends it before its gang.
"""

import contextlib
import functools
import os
import select
import shlex
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from resolute.domain.errors import EnvironmentFailed, ResoluteError, Unavailable, Untrusted
from resolute.domain.gang import Phase
from resolute.domain.log import LogLevel
from resolute.host.process_identity import identity_of
from resolute.runners.context import unpack_context
from resolute.runners.shepherd.account import Account, account_from_json
from resolute.runners.shepherd.cgroups import Cgroup, cgroup_of
from resolute.runners.shepherd.entrypoint import PythonCommand, can_run_here, command_of, plain_python
from resolute.runners.shepherd.environment import (
    BUILD_LATER,
    EnvironmentBuild,
    build_alone,
    build_from_json,
    ensure_built,
)
from resolute.runners.shepherd.master_link import MasterLink
from resolute.runners.shepherd.model_code import ensure_code
from resolute.runners.shepherd.model_files import unpack_model
from resolute.runners.shepherd.mounts import mount
from resolute.runners.shepherd.orders import Orders, Stopped, reset_signals
from resolute.runners.shepherd.output import follow
from resolute.runners.shepherd.ownership import MARK_VARIABLE
from resolute.runners.shepherd.partners import files_of, meet, variables_of
from resolute.runners.shepherd.processes import Child, adopt_orphans, execute, explained, fork
from resolute.runners.shepherd.reporting import Reporting
from resolute.runners.shepherd.run_directory import Exit, RunDirectory
from resolute.runners.shepherd.startup_hook import HOOK, run_hook
from resolute.runners.shepherd.task_log import TaskLog

PREPARATION_FAILED = 125
COMMAND_NOT_FOUND = 127
_RETRY_S = 1.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Warmth:
    """This process has libraries loaded, and can become a Python command itself."""

    own_env: dict[str, str]
    """Its environment when the libraries were loaded."""
    become: Callable[[PythonCommand, dict[str, str]], NoReturn]


def shepherd(run: RunDirectory, warmth: Warmth | None = None) -> None:
    """Take the gang in hand until it has ended, or return at once when somebody else has it."""
    orders = Orders()
    if not run.claim(identity_of(os.getpid())):
        return
    request = run.take_request()
    reporting = Reporting(run, request)
    log = reporting.log
    try:
        ended = _Session(run, request, reporting, log, orders, warmth).run()
    except Stopped as stop:
        ended = Exit(stop.exit_code, "Stopped before its entrypoint ran.")
    except ResoluteError as error:
        ended = Exit(PREPARATION_FAILED, str(error), is_final=not isinstance(error, Unavailable))
    except Exception as error:  # a bug or a broken disk: the gang must end with a sentence, not vanish
        ended = Exit(PREPARATION_FAILED, f"The run could not be prepared: {type(error).__name__}: {error}")
    if ended.code in (PREPARATION_FAILED, COMMAND_NOT_FOUND) and ended.reason:
        log.say(ended.reason, LogLevel.ERROR)
    is_hurried = functools.partial(_is_hurried, orders)
    reporting.drain(is_hurried)
    cgroup = run.cgroup()
    if cgroup is not None:
        Cgroup(cgroup).leave()
    _record(run, ended)
    reporting.end(ended, is_hurried)


def _become(account: Account | None, warmth: Warmth, command: PythonCommand, env: dict[str, str]) -> None:
    if account is not None:
        account.become()
    warmth.become(command, env)


def _never() -> bool:
    return False


def _print(text: str, level: LogLevel) -> None:
    print(text, file=sys.stderr if level is LogLevel.WARNING else sys.stdout, flush=True)


def _is_hurried(orders: Orders, seconds: float) -> bool:
    """Wait; True when there was an order to end."""
    select.select([orders.wakeups], [], [], seconds)
    return bool(orders.take())


def _record(run: RunDirectory, ended: Exit) -> None:
    while True:
        try:
            return run.record_exit(ended)
        except FileNotFoundError:
            return None  # the run directory was removed: nobody wants to know
        except OSError:
            time.sleep(_RETRY_S)  # no room: the master sees a running gang until there is some


@dataclass(frozen=True, slots=True)
class _Session:
    _run: RunDirectory
    _request: dict[str, Any]
    _reporting: Reporting
    _log: TaskLog
    _orders: Orders
    _warmth: Warmth | None

    def run(self) -> Exit:
        adopt_orphans()
        self._enter_cgroup()
        self._run.work.mkdir(exist_ok=True)
        for note in self._request["notes"]:
            self._log.say(note)
        self._build_environment()
        self._name_interpreter()
        self._unpack()
        self._fetch_model()
        self._meet_partners()
        self._write_files()
        self._hand_over()
        self._mount()
        return self._run_startup_hook() or self._run_entrypoint()

    @property
    def _account(self) -> Account | None:
        """As whom user code runs; None: as this process."""
        return account_from_json(self._request["account"])

    def _hand_over(self) -> None:
        account = self._account
        if account is None:
            return
        for folder in (self._run.work, self._run.files, self._run.path / "model"):
            if folder.exists():
                account.give(folder)
        self._run.open_to_account()
        if not account.can(lambda: os.access(self._run.work, os.X_OK)):
            raise EnvironmentFailed(
                f"{account} cannot enter {self._run.work}: a folder above it is closed to others. Start the master "
                "with a --home that they may pass through, such as /srv/resolute."
            )
        if not self._can_run_python:
            self._log.say(
                f"{account} cannot run {self._request['interpreter']}: a folder above it is closed to others. Install "
                "Resolute where everybody may read it, or name another interpreter with environment.python.",
                LogLevel.WARNING,
            )

    @property
    def _can_run_python(self) -> bool:
        return self._account is None or self._account.can(lambda: os.access(self._request["interpreter"], os.X_OK))

    def _mount(self) -> None:
        mounts = self._request["bind_mounts"]
        if self._account is None:
            mount(mounts, work=self._run.work, say=self._log.say)
        elif mounts:
            # Links that the account makes itself: what root mounts or links could lead to what is none of its business.
            self._act(self._account, lambda: mount(mounts, work=self._run.work, say=_print, enter_namespace=_never))

    def _act(self, account: Account, work: Callable[[], None]) -> tuple[int, str]:
        """Done by a process of the account. Its exit code, and what it wrote to standard error."""

        def run() -> None:
            reset_signals()
            account.become()
            work()
            os._exit(0)

        self._orders.check()
        heard: list[bytes] = []
        code = self._follow(fork(run, cwd=Path("/")), heard)
        if code in (128 + signal.SIGTERM, 128 + signal.SIGKILL):
            raise Stopped(code - 128)
        return code, b"".join(heard).decode(errors="replace")

    def _enter_cgroup(self) -> None:
        """Also this process: what it starts is in the group from its first instruction."""
        for cgroup in cgroup_of(self._request["mark"], self._request["cgroups"]):
            with contextlib.suppress(OSError):
                self._run.note_cgroup(cgroup.path)
                cgroup.join()
                return

    def _build_environment(self) -> None:
        if self._request["build"] is not None:
            build = build_from_json(self._request["build"])
            if not build.is_complete:
                self._reporting.phase(Phase.PULLING)
            if self._account is None:
                ensure_built(build, execute=self._execute_and_listen, say=self._log.say, wait=self._wait)
            elif not build.is_complete:
                self._build_as(self._account, build)
        self._reporting.phase(Phase.STARTING)

    def _build_as(self, account: Account, build: EnvironmentBuild) -> None:
        """Installing a package may run code of its author."""
        code, complaint = self._act(account, functools.partial(build_alone, build, self._env))
        if code:
            failure = Unavailable if code == BUILD_LATER else EnvironmentFailed
            raise failure(complaint.strip().rpartition("\n")[2] or "The Python environment could not be built.")

    def _execute_and_listen(self, argv: list[str]) -> tuple[int, str]:
        self._orders.check()
        heard: list[bytes] = []
        code = self._follow(self._execute(argv), heard)
        if code in (128 + signal.SIGTERM, 128 + signal.SIGKILL):
            raise Stopped(code - 128)
        return code, b"".join(heard).decode(errors="replace")

    def _wait(self, seconds: float) -> None:
        select.select([self._orders.wakeups], [], [], seconds)
        self._orders.check()

    def _name_interpreter(self) -> None:
        python = self._request["python"]
        for name in ("python", "python3") if python is not None else ():
            self._run.bin.mkdir(exist_ok=True)
            wrapper = self._run.bin / name
            # Not a link: through one, an interpreter would look for its environment in the wrong place.
            wrapper.write_text(f'#!/bin/sh\nexec {shlex.quote(python)} "$@"\n')
            wrapper.chmod(0o755)

    def _unpack(self) -> None:
        context_id = self._request["context_id"]
        if context_id is not None:
            contexts = Path(self._request["contexts"])
            archive = ensure_code(contexts, context_id, fetch=self._fetch_code, wait=self._wait)
            unpack_context(archive, self._run.work)

    def _fetch_code(self) -> bytes:
        return self._patiently(lambda link: link.get(f"{self._allocation}/context"))

    def _fetch_model(self) -> None:
        name = self._request["model_name"]
        if name:
            folder = self._run.path / "model"
            self._log.say(f"Fetching the model {name} from the master.")
            unpack = functools.partial(unpack_model, folder=folder)
            self._patiently(lambda link: link.download(f"{self._allocation}/model", unpack))
            self._request["env"]["RESOLUTE_MODEL_SOURCE"] = str(folder / name)

    @property
    def _allocation(self) -> str:
        return f"/api/v1/allocations/{self._request['allocation_id']}"

    def _patiently(self, ask: Callable[[MasterLink], T]) -> T:
        """The master may be away."""
        link = self._reporting.link
        if link is None:
            raise EnvironmentFailed("The model is fetched from the master, and DET_MASTER does not name one.")
        while True:
            try:
                return ask(link)
            except Untrusted:
                raise
            except Unavailable:
                self._wait(_RETRY_S)

    def _meet_partners(self) -> None:
        meeting = meet(self._request, self._reporting.link, self._wait)
        self._request["env"].update(variables_of(meeting, self._request))
        self._request["files"].update(files_of(meeting, self._request))

    def _write_files(self) -> None:
        for name, content in self._request["files"].items():
            path = self._run.files / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def _run_startup_hook(self) -> Exit | None:
        """None: there is none, or it went well."""
        if not (self._run.work / HOOK).is_file():
            return None
        layer = self._run.path / "layer"
        layer.mkdir(exist_ok=True)
        if self._account is not None:
            self._account.give(layer)
        code, exported = run_hook(self._run_with, work=self._run.work, layer=layer, env=self._env)
        if code == 0:
            self._request["env"] = exported
            return None
        reason = f"{HOOK} ended with exit code {code}; the entrypoint was not run."
        self._log.say(reason, LogLevel.ERROR)
        return Exit(code, reason)

    def _run_with(self, argv: list[str], env: Mapping[str, str]) -> int:
        self._orders.check()
        account = self._account
        become = None if account is None else account.become
        return self._follow(execute(argv, env=dict(env), cwd=self._run.work, become=become))

    def _run_entrypoint(self) -> Exit:
        self._orders.check()
        self._reporting.phase(Phase.RUNNING)
        entrypoint = self._request["entrypoint"]
        try:
            child = self._start(entrypoint)
        except OSError as error:
            reason = f"The entrypoint {entrypoint!r} could not be started: {error.strerror or error}."
            return Exit(COMMAND_NOT_FOUND, reason, is_final=isinstance(error, FileNotFoundError | PermissionError))
        code = self._follow(child)
        return Exit(code, explained(code))

    def _start(self, entrypoint: str | Sequence[str]) -> Child:
        command = plain_python(entrypoint)
        if self._warmth is None or command is None or not self._is_fit_for(command, self._warmth):
            return self._execute(command_of(entrypoint))
        become = functools.partial(_become, self._account, self._warmth, command, self._env)
        return fork(become, cwd=self._run.work)

    def _is_fit_for(self, command: PythonCommand, warmth: Warmth) -> bool:
        if not self._can_run_python:
            return False
        is_there = command.is_module or (self._run.work / command.target).is_file()
        return is_there and can_run_here(command, self._env, executable=sys.executable, own_env=warmth.own_env)

    def _execute(self, argv: list[str]) -> Child:
        account = self._account
        become = None if account is None else account.become
        return execute(argv, env=self._env, cwd=self._run.work, become=become)

    @property
    def _env(self) -> dict[str, str]:
        return {**self._request["env"], MARK_VARIABLE: os.environ.get(MARK_VARIABLE, "")}

    def _follow(self, child: Child, heard: list[bytes] | None = None) -> int:
        with contextlib.suppress(OSError):  # a full disk
            self._run.note_entrypoint(identity_of(child.pid))
        return follow(child, log=self._log, orders=self._orders, heard=heard)
