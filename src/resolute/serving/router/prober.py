"""Asks every replica again and again whether it can answer; what follows from that is `domain.replica_health`."""

import asyncio
import logging

from resolute.domain.replica_health import PROBE_EVERY_S, PROBE_WITHIN_S, Health
from resolute.serving.router.deployed import Deployed, Group
from resolute.serving.router.routes import Routes
from resolute.serving.router.upstream import Replica

_log = logging.getLogger("resolute.router")
_LONGEST_ANSWER = 1 << 16
"""Bytes of an answer that are read; of a longer one the status is known by then."""


class Prober:
    """`look` is to be called a few times a second."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes
        self._due: dict[Replica, float] = {}
        self._asked: dict[Replica, asyncio.Task[None]] = {}
        self._last: dict[Replica, Health] = {}

    def look(self) -> None:
        now = self._routes.now()
        there: set[Replica] = set()
        for deployed in self._routes.deployed:
            for group in deployed.groups.values():
                there.update(group.replicas)
                for replica in group.eject(now):
                    _log.warning("Replica %s rests: %s.", replica.id, replica.ejection.reason)
                for replica in group.replicas if group.health_path else ():
                    self._ask_if_due(deployed, group, replica, now)
        for gone in self._due.keys() - there:
            del self._due[gone]
            self._last.pop(gone, None)

    def close(self) -> None:
        for task in self._asked.values():
            task.cancel()

    def _ask_if_due(self, deployed: Deployed, group: Group, replica: Replica, now: float) -> None:
        if replica in self._asked or now < self._due.get(replica, 0.0):
            return
        task = asyncio.get_running_loop().create_task(self._ask(deployed, replica, group.health_path))
        self._asked[replica] = task
        task.add_done_callback(lambda _: self._asked.pop(replica, None))

    async def _ask(self, deployed: Deployed, replica: Replica, path: str) -> None:
        started, in_hand = self._routes.now(), replica.in_hand()
        try:
            async with asyncio.timeout(PROBE_WITHIN_S):
                status = await ask_status(replica.host, replica.port, path)
        except TimeoutError:
            replica.probes.missed(self._routes.now(), f"no answer within {PROBE_WITHIN_S:g} s")
        except (OSError, ValueError, asyncio.IncompleteReadError) as problem:
            replica.probes.missed(self._routes.now(), str(problem) or type(problem).__name__)
        else:
            replica.probes.answered(self._routes.now(), status)
            # It has answered in the middle of a request: silence means more than that it works.
            replica.probes.answers_while_busy |= bool(in_hand & replica.in_hand())
        self._due[replica] = started if replica.probes.is_doubtful else started + PROBE_EVERY_S
        self._tell(deployed, replica)

    def _tell(self, deployed: Deployed, replica: Replica) -> None:
        before = self._last.get(replica, Health.HEALTHY)
        after = self._last[replica] = replica.probes.health(self._routes.now())
        if after is before:
            return
        if after is Health.HEALTHY:
            _log.info("Replica %s answers again.", replica.id)
            deployed.wake()
            return
        _log.warning("Replica %s gets no requests: %s.", replica.id, replica.probes.reason)
        if after is Health.HUNG:
            replica.abandon()


async def ask_status(host: str, port: int, path: str) -> int:
    """What `GET path` is answered with, on a connection of its own: one that is kept says nothing of new ones."""
    reader, writer = await asyncio.open_connection(host, port, limit=_LONGEST_ANSWER)
    try:
        request = f"GET {path} HTTP/1.1\r\nhost: {host}\r\nuser-agent: resolute-router\r\nconnection: close\r\n\r\n"
        writer.write(request.encode("latin-1"))
        version, _, rest = (await reader.readuntil(b"\n")).partition(b" ")
        status = rest[:3]
        if not version.startswith(b"HTTP/1.") or not status.isdigit():
            raise ValueError(f"it does not speak HTTP/1.1: {(version + rest)[:40]!r}")
        return int(status)
    except asyncio.LimitOverrunError:
        raise ValueError("its status line does not end") from None
    finally:
        writer.transport.abort()
