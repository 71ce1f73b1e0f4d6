"""Tells the master where a replica listens and when it can answer; a master that is away is told when it is back."""

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from resolute.domain.errors import InvalidInput, ResoluteError
from resolute.host.trust import Trust

_log = logging.getLogger("resolute.serving")
_ANSWER_S = 10.0


def address_towards_master(env: Mapping[str, str]) -> str:
    """The own address on the way to the master: where the router beside it gets here. Nothing is sent."""
    master = urlsplit(env.get("RESOLUTE_MASTER") or env.get("DET_MASTER") or "")
    try:
        family, kind, protocol, _, target = socket.getaddrinfo(master.hostname or "", 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.connect(target)
            return str(probe.getsockname()[0])
    except OSError as error:
        raise InvalidInput(
            f"There is no way to the master {master.geturl() or '(RESOLUTE_MASTER is not set)'}: {error}. "
            "Say where to listen with --host."
        ) from error


class _Leaving(Exception):
    """The replica ends while it waits for a master."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterReport:
    master: str
    allocation_id: str
    token: str = field(repr=False)
    trust: Trust = field(default_factory=Trust)

    @classmethod
    def of(cls, env: Mapping[str, str]) -> "MasterReport | None":
        """None outside an allocation."""
        master = env.get("RESOLUTE_MASTER") or env.get("DET_MASTER") or ""
        allocation_id = env.get("RESOLUTE_ALLOCATION_ID") or env.get("DET_ALLOCATION_ID") or ""
        token = env.get("DET_SESSION_TOKEN", "")
        if not (master and allocation_id and token):
            return None
        return cls(master=master.rstrip("/"), allocation_id=allocation_id, token=token, trust=Trust.of(env))

    async def listens(self, address: str) -> None:
        await self._tell("proxy_address", {"proxyAddress": address})

    async def is_ready(self) -> None:
        await self._tell("ready", {})

    async def _tell(self, what: str, body: dict[str, str]) -> None:
        """Until the master has it. A refusal is final: it is logged, and the replica goes on serving."""
        leaving = threading.Event()
        try:
            await _in_thread(lambda: self._post(what, body, leaving))
        finally:
            leaving.set()

    def _post(self, what: str, body: dict[str, str], leaving: threading.Event) -> None:
        # Imported here, while the model loads: a replica listens before it has loaded an HTTP client.
        from resolute.client.task.client import TaskClient
        from resolute.client.task.retry import REPLICA_REPORT

        def pause(pause_s: float) -> None:
            if leaving.wait(pause_s):
                raise _Leaving

        path = f"/api/v1/allocations/{quote(self.allocation_id, safe='')}/{what}"
        try:
            client = TaskClient(self.master, self.token, self.trust)
            with contextlib.closing(client), contextlib.suppress(_Leaving):
                REPLICA_REPORT.run(lambda: client.call("POST", path, body=body, timeout_s=_ANSWER_S), sleep=pause)
        except ResoluteError as problem:
            _log.warning("The master was not told %s: %s", what, problem)


async def _in_thread(work: Callable[[], None]) -> None:
    """In a thread that nobody waits for: a master that hangs must not keep a replica from leaving."""
    loop = asyncio.get_running_loop()
    is_done = loop.create_future()

    def finish() -> None:
        if not is_done.done():
            is_done.set_result(None)

    def run() -> None:
        try:
            work()
        finally:
            with contextlib.suppress(RuntimeError):  # The loop is gone: so is whoever waited.
                loop.call_soon_threadsafe(finish)

    threading.Thread(target=run, name="resolute-report", daemon=True).start()
    await is_done
