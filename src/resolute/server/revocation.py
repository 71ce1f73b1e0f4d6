"""Answers that go on for long end when their caller's token is no longer good, or his rights have changed.

What was checked before a stream began is not true for ever: somebody logs out, is deactivated, loses a role. It is
asked again before each part of an answer, so a stream without news may stay open, and shows nothing more. Whoever may
still see its things asks again and is checked anew.
"""

import contextlib

import msgspec
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resolute.domain.errors import Forbidden, ResoluteError
from resolute.server.auth import Principal, Tokens, find_principal
from resolute.server.errors import stream_line_of


class Revocation:
    """ASGI middleware around the routes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with contextlib.suppress(_Ended):
            await self._app(scope, receive, _Checked(scope, send))


class _Ended(Exception):
    """The answer is over; what made it is to stop."""


class _Checked:
    """`send`, as long as the caller may have what is sent."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._tokens: Tokens = scope["app"].state.tokens
        self._generation = self._tokens.generation
        self._is_json = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._is_json = (b"content-type", b"application/json") in message["headers"]
        elif message.get("more_body") and self._generation != self._tokens.generation:
            self._generation = self._tokens.generation
            refusal = await self._refusal()
            if refusal is not None:
                last = msgspec.json.encode(stream_line_of(refusal)) + b"\n" if self._is_json else b""
                await self._send({"type": "http.response.body", "body": last, "more_body": False})
                raise _Ended
        await self._send(message)

    async def _refusal(self) -> ResoluteError | None:
        before: Principal | None = self._scope.get("principal")
        if before is None:
            return None
        try:
            again = self._scope.get("find_principal", find_principal)
            now: Principal = await again(HTTPConnection(self._scope))
        except ResoluteError as error:
            return error
        return None if now.rights == before.rights else Forbidden("Your rights have changed meanwhile. Ask again.")
