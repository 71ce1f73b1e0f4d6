"""Runs gangs as processes of this machine. The gangs belong to their shepherds, not to this object: it may be
dropped, or die with the master, and another one finds them again by what they wrote into their run directories.

It holds no state that matters: every answer about a gang is read from `<home>/runs/<allocation id>/`.
"""

import os
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from resolute.domain.errors import InvalidInput, Unavailable
from resolute.domain.node import DeviceType, Node, Pool
from resolute.engine.ports.runner import Gang, GangStatus
from resolute.runners import environments
from resolute.runners.accounts import account_here, open_way, variables_as
from resolute.runners.clearing import clear_environments
from resolute.runners.environments import Environment
from resolute.runners.node_request import node_request
from resolute.runners.preparation import session_request
from resolute.runners.rendering import render_gang, unused_here, without_secrets
from resolute.runners.runs import Runs
from resolute.runners.shepherd.account import Account
from resolute.runners.shepherd.cgroups import own_groups
from resolute.runners.shepherd.entrypoint import plain_python
from resolute.runners.shepherd.model_code import cached_code, keep_code
from resolute.runners.shepherd.ownership import MARK_VARIABLE, inherited_mark, mark_of
from resolute.runners.shepherd.run_directory import RunDirectory
from resolute.runners.slots import host_name, local_node
from resolute.runners.spawning import Children
from resolute.runners.zygote import BOOT_SCRIPT, ZygotePool

WARM_MODULES = ("numpy.random", "torch", "httpcore", "resolute.training.core", "resolute.pytorch")
"""What trials are likely to import (`httpcore` on the first request); what an environment lacks is left out."""
_CAN_BE_WARM = sys.platform == "linux"


ReadCode = Callable[[str], bytes]


class LocalRunner:
    """`slots` None: one per CUDA device, else per core. `warm` False: every trial starts a fresh interpreter.
    `read_code`: a model definition by its content hash, for a runner that lives with its master; without it the
    supervisors fetch it themselves. `cgroups`: folders below which a run may have a control group, best first; None:
    those of this process."""

    def __init__(
        self,
        *,
        home: Path,
        slots: int | None = None,
        node_id: str | None = None,
        warm: bool = True,
        read_code: ReadCode | None = None,
        cgroups: Sequence[str] | None = None,
    ) -> None:
        home = home.absolute()
        self._home = home
        self._read_code = read_code
        self._contexts = home / "contexts"
        self._runs = Runs(home / "runs")
        self._envs = home / "envs"
        self._node = local_node(node_id or host_name(), slots, os.environ)
        self._zygotes = ZygotePool(modules=WARM_MODULES, env=os.environ, home=home) if warm and _CAN_BE_WARM else None
        if self._zygotes is not None:
            self._zygotes.get(sys.executable)
        self._children = Children()
        self._cgroups = own_groups() if cgroups is None else tuple(cgroups)

    def pools(self) -> list[Pool]:
        return [Pool(self._node.resource_pool, self._node.slots[0].type if self._node.slots else DeviceType.CPU)]

    def nodes(self) -> list[Node]:
        return [self._node]

    def render(self, gang: Gang) -> dict[str, object]:
        rendered = render_gang(gang)
        environment = self._environment_of(gang, account_here(gang.account))
        rendered["env"] = without_secrets(self._request_in(gang, environment, {}, None)["env"])
        rendered["environment_directory"] = environment.build.directory if environment.build is not None else None
        rendered["run_directory"] = str(self._runs.directory(gang.allocation_id).path)
        return rendered

    def start(self, gang: Gang) -> str:
        handle = gang.allocation_id
        if len(gang.nodes) != 1:
            raise InvalidInput(
                f"Allocation {handle} spans {len(gang.nodes)} nodes; the local runner has one. Ask for fewer slots."
            )
        try:
            self._runs.start(handle, lambda run: self._prepare_and_launch(run, gang))
        except OSError as error:
            where, why = self._runs.directory(handle).path, error.strerror or error
            raise Unavailable(f"Allocation {handle} cannot be started in {where}: {why}.") from error
        return handle

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]:
        self._children.reap()
        return {handle: self._runs.status(handle) for handle in handles}

    def stop(self, handle: str, *, force: bool) -> None:
        self._runs.stop(handle, force=force)

    def running(self) -> list[str]:
        return [handle for handle, status in self.poll(self._runs.names()).items() if not status.is_over]

    def close(self, *, stop_gangs: bool) -> None:
        if stop_gangs:
            self._stop_all()
        if self._zygotes is not None:
            self._zygotes.close()
        self._children.reap()

    def _stop_all(self) -> None:
        for handle in self.running():
            self.stop(handle, force=True)
        deadline = time.monotonic() + 10.0
        while self.running() and time.monotonic() < deadline:
            time.sleep(0.01)

    def forget(self, handle: str) -> None:
        self._runs.forget(handle)

    def sweep(self, live: Collection[str]) -> int:
        clear_environments(self._envs)
        return self._runs.sweep(live)

    def is_warm(self, python: str) -> bool:
        """Would a trial in this interpreter start warm now? Asking starts warming it up."""
        return self._zygotes is not None and self._zygotes.get(python).is_ready

    def _prepare_and_launch(self, run: RunDirectory, gang: Gang) -> int:
        account = account_here(gang.account)
        environment = self._environment_of(gang, account)
        if environment.build is not None:
            environment.build.note_use()
        self._fetch_code(gang.context_id)
        inherited: Mapping[str, str] = os.environ
        if account is not None:
            inherited = variables_as(account, os.environ, open_way(self._home, account))
        run.prepare(self._request_in(gang, environment, inherited, account))
        return self._launch(run, gang, environment)

    def _environment_of(self, gang: Gang, account: Account | None) -> Environment:
        """What one account has built runs code of its own choice, so nobody else uses it."""
        envs = self._envs if account is None else self._home / "accounts" / str(account.uid) / "envs"
        return environments.resolve(gang.environment, envs=envs, account=account)

    def _fetch_code(self, context_id: str | None) -> None:
        """Before the supervisor asks for it: here it is one read of the store for all runs of an experiment."""
        if context_id and self._read_code is not None and cached_code(self._contexts, context_id) is None:
            keep_code(self._contexts, context_id, self._read_code(context_id))

    def _launch(self, run: RunDirectory, gang: Gang, environment: Environment) -> int:
        pid = self._launch_warm(run, gang, environment)
        if pid is None:
            # Neither site-packages nor the caller's PYTHON* variables concern a shepherd that starts others.
            arguments = [sys.executable, "-I", "-S", str(BOOT_SCRIPT), "shepherd", str(run.path)]
            env = {**os.environ, MARK_VARIABLE: inherited_mark(mark_of(run.path), os.environ.get(MARK_VARIABLE, ""))}
            pid = self._children.start(arguments, env, errors=run.path / "shepherd.err")
        return pid

    def _launch_warm(self, run: RunDirectory, gang: Gang, environment: Environment) -> int | None:
        if self._zygotes is None:
            return None
        runs_in_it = environment.is_ready and environment.can_be_warm and plain_python(gang.entrypoint) is not None
        # Loading what somebody has installed runs his code, which a warm process of root must not.
        is_own = environment.python == sys.executable or gang.account is not None
        if runs_in_it and not is_own:
            pid = self._zygotes.get(environment.python).launch(run.path, mark_of(run.path))
            if pid is not None:
                return pid
        # Also where nothing is run in it: forking a shepherd is cheaper than starting one.
        return self._zygotes.get(sys.executable).launch(run.path, mark_of(run.path))

    def _request_in(
        self, gang: Gang, environment: Environment, inherited: Mapping[str, str], account: Account | None
    ) -> dict[str, Any]:
        run = self._runs.directory(gang.allocation_id)
        request = node_request(gang, gang.nodes[0], is_remote=False, notes=unused_here(gang))
        if account is not None and gang.model_path:
            # The master's copy is for the master alone.
            request = replace(request, model_name=PurePath(gang.model_path).name)
        return session_request(
            request,
            environment,
            node=self._node,
            run=run,
            contexts=self._contexts,
            inherited=inherited,
            cgroups=self._cgroups,
            account=account,
        )
