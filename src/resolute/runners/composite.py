"""Several runners as one: work goes to the runner whose pool it names, so that one master drives this machine and the
engines beside it. One that fails to answer never stops the others.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from resolute.domain.errors import ResoluteError, Unavailable
from resolute.domain.node import Node, Pool
from resolute.engine.ports.runner import Forgets, Gang, GangStatus, Runner, Sweeps, Watches

log = logging.getLogger(__name__)

T = TypeVar("T")
_OF = ":"
"""Between the name of a runner and its own handle."""


class CompositeRunner:
    """`runners` by name, the one with the default pool first. Its handles are as it gives them; the others' begin with
    their runner's name, so that a later master knows whose they are, whichever runners it has."""

    def __init__(self, runners: Mapping[str, Runner]) -> None:
        assert runners, "a composite of no runner"
        self._runners = dict(runners)
        self._home = next(iter(runners))
        self._failing: dict[tuple[str, str], str] = {}
        self._pools: dict[str, list[Pool]] = {name: [] for name in runners}
        """As each declared them last: a pool does not vanish because its engine is away for a minute."""

    def pools(self) -> list[Pool]:
        found: dict[str, Pool] = {}
        for name in self._runners:
            for pool in self._pools_of(name):
                found.setdefault(pool.name, pool)
        return list(found.values())

    def nodes(self) -> list[Node]:
        """Of a pool that two declare, those of the first: the work goes there."""
        nodes: list[Node] = []
        for name, runner in self._runners.items():
            own: list[Node] = self._ask(name, "list its nodes", runner.nodes, [])
            nodes += [node for node in own if self._owner(node.resource_pool) == name]
        return nodes

    def render(self, gang: Gang) -> dict[str, object]:
        return self._runners[self._owner_or_raise(gang.resource_pool)].render(gang)

    def start(self, gang: Gang) -> str:
        name = self._owner_or_raise(gang.resource_pool)
        return self._prefixed(name, self._runners[name].start(gang))

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]:
        """What cannot be asked about now is left out, also that of a runner which is no longer configured: whoever
        called it lost would start it twice."""
        statuses: dict[str, GangStatus] = {}
        for name, own in self._by_runner(handles).items():
            ask = partial(self._runners[name].poll, own)
            found: dict[str, GangStatus] = self._ask(name, "say how its gangs are", ask, {})
            statuses |= {self._prefixed(name, handle): status for handle, status in found.items()}
        return statuses

    def stop(self, handle: str, *, force: bool) -> None:
        for name, (own,) in self._by_runner([handle]).items():
            self._ask(name, "stop a gang", partial(self._runners[name].stop, own, force=force), None)

    def running(self) -> list[str]:
        found: list[str] = []
        for name, runner in self._runners.items():
            own: list[str] = self._ask(name, "list its gangs", runner.running, [])
            found += [self._prefixed(name, handle) for handle in own]
        return found

    def close(self, *, stop_gangs: bool) -> None:
        for name, runner in self._runners.items():
            self._ask(name, "close", partial(runner.close, stop_gangs=stop_gangs), None)

    def forget(self, handle: str) -> None:
        for name, (own,) in self._by_runner([handle]).items():
            runner = self._runners[name]
            if isinstance(runner, Forgets):
                self._ask(name, "forget a gang", partial(runner.forget, own), None)

    def sweep(self, live: Collection[str]) -> int:
        gone = 0
        for name, runner in self._runners.items():
            if isinstance(runner, Sweeps):
                # Handles of others name nothing there; one that is being started is known by its allocation alone.
                own = frozenset(live) | frozenset(handle.removeprefix(self._prefixed(name, "")) for handle in live)
                gone += self._ask(name, "sweep", partial(runner.sweep, own), 0)
        return gone

    def watch(self, on_change: Callable[[], None]) -> None:
        for runner in self._runners.values():
            if isinstance(runner, Watches):
                runner.watch(on_change)

    # ------------------------------------------------------------------------------------------------- whose is it

    def _owner(self, pool: str) -> str | None:
        return next((name for name in self._runners if any(p.name == pool for p in self._pools[name])), None)

    def _owner_or_raise(self, pool: str) -> str:
        owner = self._owner(pool)
        if owner is None:
            for name in self._runners:
                self._pools_of(name)
            owner = self._owner(pool)
        if owner is None:
            raise Unavailable(f"No runner declares pool {pool}; runners are {', '.join(self._runners)}.")
        return owner

    def _pools_of(self, name: str) -> list[Pool]:
        runner = self._runners[name]
        self._pools[name] = self._ask(name, "declare its pools", runner.pools, self._pools[name])
        return self._pools[name]

    def _by_runner(self, handles: Iterable[str]) -> dict[str, list[str]]:
        """Each runner's own handles. Those of a runner that is not configured are nobody's."""
        found: dict[str, list[str]] = {}
        for handle in handles:
            name, separator, own = handle.partition(_OF)
            if not separator:
                found.setdefault(self._home, []).append(handle)
            elif name in self._runners:
                found.setdefault(name, []).append(own)
            else:
                self._complain(name, "answer", "it is not configured any more; its gangs stay as they are")
        return found

    def _prefixed(self, name: str, handle: str) -> str:
        return handle if name == self._home else f"{name}{_OF}{handle}"

    # ----------------------------------------------------------------------------------------------- who fails alone

    def _ask(self, name: str, what: str, call: Callable[[], T], otherwise: T) -> T:
        try:
            answer = call()
        except ResoluteError as error:
            self._complain(name, what, str(error))
            return otherwise
        except Exception as error:
            log.debug("runner %s", name, exc_info=True)
            self._complain(name, what, f"{type(error).__name__}: {error}")
            return otherwise
        if self._failing.pop((name, what), None) is not None:
            log.info("runner %s can %s again", name, what)
        return answer

    def _complain(self, name: str, what: str, why: str) -> None:
        """Once for each reason, since it is asked many times a second."""
        if self._failing.get((name, what)) != why:
            self._failing[name, what] = why
            log.warning("runner %s cannot %s: %s", name, what, why)
