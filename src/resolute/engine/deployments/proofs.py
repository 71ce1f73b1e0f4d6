"""Whether a replica that says it is ready answers: asked before it gets its first request, behind the passes.

Afterwards the router asks; see `domain.replica_health`.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet

_WAIT_S = 0.05
"""Most answer at once: no pass need come back for them."""
_AT_ONCE = 8


class Proofs:
    """`ask(address, path)`: why it cannot answer, empty when it can."""

    def __init__(self, ask: Callable[[str, str], str], proven: Iterable[str] = ()) -> None:
        self._ask = ask
        self._proven = set(proven)
        self._asked: dict[str, Future[str]] = {}
        self._pool = ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="proofs")

    def why_not(self, replica_id: str, address: str, path: str) -> str:
        """Empty when it has answered. Asks again while it has not."""
        if replica_id in self._proven or not path:
            return ""
        asked = self._asked.get(replica_id)
        wait_s = _WAIT_S if asked is None else 0.0
        asked = self._asked[replica_id] = asked or self._pool.submit(self._ask, address, path)
        try:
            why = asked.result(wait_s)
        except NotYet:
            return "it says that it is ready, and has not answered its first probe"
        del self._asked[replica_id]
        if why:
            return f"it says that it is ready, and its probe failed: {why}"
        self._proven.add(replica_id)
        return ""

    def keep(self, replica_ids: set[str]) -> None:
        """Forget the others."""
        self._proven &= replica_ids
        self._asked = {name: asked for name, asked in self._asked.items() if name in replica_ids}

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
