"""One request on its way: to a replica, to another one where that is safe, back to the client.

A request that no replica can have begun goes to another one. One that a dead replica may have begun does so only when
doing it twice does no harm: by its method, or because the deployment says so (`serving.idempotent`). An answer is held
back until it is complete (unless it is large or has no length), so that this is still possible in the middle of it.
"""

import asyncio
from collections.abc import Callable

from resolute.serving.http.answers import answer
from resolute.serving.http.connection import Turn
from resolute.serving.http.request import Request
from resolute.serving.router.deployed import Deployed, Group
from resolute.serving.router.request import encoded
from resolute.serving.router.upstream import Replica, Upstream

_HELD_BYTES = 256 * 1024
_MOST_SENDS = 3
"""A request that ended so many servers is not sent to another one."""
_HARMLESS = frozenset({b"GET", b"HEAD", b"OPTIONS"})
_SLACK_S = 2.0
"""The model server's own time-out comes first: its sentence knows more."""


class Nobody:
    """The `Turn` of a shadow: its answers are counted and dropped."""

    def write(self, data: bytes) -> None:
        pass

    def writelines(self, parts: list[bytes | bytearray | memoryview]) -> None:
        pass

    def done(self, *, is_last: bool) -> None:
        pass


class Exchange:
    __slots__ = (
        "_deadline",
        "_extra",
        "_group",
        "_held",
        "_held_bytes",
        "_is_shadow",
        "_is_streaming",
        "_loop",
        "_position",
        "_replica",
        "_request",
        "_sends",
        "_sent_at",
        "_started",
        "_timer",
        "_turn",
        "_upstream",
        "deployed",
        "is_over",
        "method",
        "revision",
    )

    def __init__(
        self, deployed: Deployed, request: Request, path: bytes, turn: Turn, *, is_shadow: bool = False
    ) -> None:
        self.deployed = deployed
        self.method = request.method
        self.revision = 0
        self._request = encoded(request, path)
        self._turn = turn
        self._is_shadow = is_shadow
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._position, self._extra = (0, b"") if is_shadow else deployed.place(request)
        self._group: Group | None = None
        self._replica: Replica | None = None
        self._upstream: Upstream | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._deadline = 0.0
        self._sends = 0
        self._sent_at = 0.0
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._is_streaming = False
        self.is_over = False

    @property
    def size(self) -> int:
        return len(self._request)

    def dispatch(self) -> None:
        """To whoever can answer; waits when nobody can."""
        chosen = self.deployed.choose(self._position, self._loop.time())
        if chosen is None:
            self._wait()
            return
        self.deployed.stop_waiting(self)
        self._send(chosen)

    def shadow(self) -> bool:
        """Send a copy to the shadow's replicas, if this one is to be copied and they have room."""
        chosen = self.deployed.choose_shadow(self._loop.time())
        if chosen is None:
            return False
        self.deployed.shadows += 1
        self._send(chosen)
        return True

    def forget(self) -> None:
        """It waits for a deployment that is no more."""
        self._refuse(404, f"Deployment {self.deployed.routed.name} was deleted.")

    def cancel(self) -> None:
        """The client has gone."""
        if self.is_over:
            return
        self.deployed.stop_waiting(self)
        upstream = self._upstream
        self._leave_replica()
        self._end()
        if upstream is not None:
            upstream.close()

    def hold(self, is_held: bool) -> None:
        """The client reads slower than the replica writes."""
        if self._is_streaming and self._upstream is not None:
            self._upstream.pause(is_held)

    # ------------------------------------------------------------------------------------------------ sending

    def _send(self, chosen: tuple[int, Group, Replica]) -> None:
        self.revision, self._group, self._replica = chosen
        self._replica.in_flight += 1
        self._sent_at = self._loop.time()
        self.deployed.counter.of(self.revision).in_flight += 1
        self._set_timer(self._group.timeout_s + _SLACK_S, self._late)
        self._replica.send(self, self._request)

    def _wait(self) -> None:
        now = self._loop.time()
        if self in self.deployed.waiting:
            self.deployed.wait(self)
            return
        if not self._deadline:
            self._deadline = now + self.deployed.wait_s
        if not self.deployed.wait(self):
            sentence = f"Deployment {self.deployed.routed.name} has no replica yet and too many requests wait for one."
            self._refuse(429, sentence, retry_after_s=5)
            return
        self._set_timer(max(0.0, self._deadline - now), self._waited_too_long)

    def _set_timer(self, delay_s: float, action: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(delay_s, action)

    # ---------------------------------------------------------------------------------------------- answering

    def sent(self, upstream: Upstream) -> None:
        self._upstream = upstream

    def received(self, upstream: Upstream, data: bytes, *, is_complete: bool) -> None:
        status, is_last = upstream.status, upstream.is_closing
        if self._is_streaming:
            self._turn.write(data)
        else:
            self._held.append(data)
            self._held_bytes += len(data)
            is_large = self._held_bytes > _HELD_BYTES or (upstream.status and not upstream.has_length)
            if is_complete or is_large:
                self._release(is_complete=is_complete, upstream=upstream)
        if is_complete:
            self._complete(status, is_last=is_last)

    def _release(self, *, is_complete: bool, upstream: Upstream) -> None:
        data = self._held[0] if len(self._held) == 1 else b"".join(self._held)
        self._held.clear()
        end = data.find(b"\r\n") + 2
        # Behind the status line; everything else goes through as the model server wrote it.
        line = b"x-resolute-revision: %d\r\n" % self.revision
        self._turn.write(data[:end] + line + self._extra + data[end:])
        if not is_complete:
            self._is_streaming = True

    def _complete(self, status: int, *, is_last: bool) -> None:
        self._count(is_error=status >= 500)
        self._leave_replica()
        self._end()
        self._turn.done(is_last=is_last)

    def unconnected(self, replica: Replica) -> None:
        if self.is_over:
            return
        self._leave_replica()
        self._try_again()

    def failed(self, upstream: Upstream) -> None:
        if self.is_over:
            return
        if upstream.is_first:
            upstream.replica.rest(self._loop.time())
        # Its other idle connections lead to the same dead process: none of them may cost this request another try.
        upstream.replica.close()
        self._sends += 1
        if self._is_streaming:
            self._count(is_error=True)
            self._leave_replica()
            self._end()
            self._turn.done(is_last=True)
            return
        why = self._why_not_again(upstream)
        if why:
            self._count(is_error=True)
            self._leave_replica()
            self._refuse(502, why)
            return
        self._leave_replica()
        self._held.clear()
        self._held_bytes = 0
        self._try_again()

    def _why_not_again(self, upstream: Upstream) -> str:
        """Empty when the request may be sent to another replica."""
        if self._sends >= _MOST_SENDS:
            return f"{self._sends} model servers ended without answering this request."
        is_harmless = self.method in _HARMLESS or (self._group is not None and self._group.idempotent)
        if is_harmless or not upstream.has_begun:
            return ""
        what = "does not answer any more" if upstream.is_abandoned else "ended"
        return (
            f"The model server {what}, and may have begun this request: it was not sent to another one. Send it again "
            "if doing it twice does no harm, or say so in the deployment: serving.idempotent."
        )

    def _try_again(self) -> None:
        if self._is_shadow:
            self._end()
            return
        self.dispatch()

    def _late(self) -> None:
        assert self._group is not None
        self._count(is_error=True)
        upstream = self._upstream
        if self._replica is not None:
            # It may hang: others go first until it answers again.
            self._replica.rest(self._loop.time())
        self._leave_replica()
        self._refuse(
            504, f"The model did not answer within {self._group.timeout_s:g} s (serving.timeout_s of the deployment)."
        )
        if upstream is not None:
            upstream.close()

    def _waited_too_long(self) -> None:
        name, wait_s = self.deployed.routed.name, self.deployed.wait_s
        self._refuse(
            503, f"Deployment {name} has had no ready replica for {wait_s:g} s; `resolute deploy describe {name}`.", 5
        )

    # --------------------------------------------------------------------------------------------------- ends

    def _refuse(self, status: int, sentence: str, retry_after_s: int | None = None) -> None:
        self.deployed.stop_waiting(self)
        is_streaming = self._is_streaming
        self._end()
        if not is_streaming:
            self._turn.write(answer(status, sentence, retry_after_s=retry_after_s))
        self._turn.done(is_last=is_streaming)

    def _count(self, *, is_error: bool) -> None:
        now = self._loop.time()
        if self._replica is not None:
            self._replica.record.ended(now, now - self._sent_at, is_error=is_error)
        self.deployed.counter.of(self.revision).ended(now - self._started, is_error=is_error)

    def _leave_replica(self) -> None:
        if self._replica is not None:
            self._replica.in_flight -= 1
            self.deployed.counter.of(self.revision).in_flight -= 1
        self._replica = None
        self._upstream = None

    def _end(self) -> None:
        self.is_over = True
        if self._is_shadow:
            self.deployed.shadows -= 1
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
