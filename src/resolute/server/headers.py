"""What every answer tells a browser about itself, whichever route made it.

Pages of the web UI run only scripts and styles of their own build. Everything else is data: should a browser open it as
a page (a file of a checkpoint, what a model server answered), it gets no script and no share in this origin.
"""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PAGE = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
    )
)
_DATA = "default-src 'none'; object-src 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox"
_PAGES = "/det"
_TASKS = "/proxy/"


def browser_rules(path: str) -> dict[str, str]:
    """Headers of the answer to a request for `path`."""
    is_page = path == _PAGES or path.startswith(f"{_PAGES}/")
    return {
        "Content-Security-Policy": _PAGE if is_page else _DATA,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }


class BrowserRules:
    """ASGI middleware around the gate, so that refusals carry the rules too. Replaces what a model server sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        rules = browser_rules(scope["path"])
        is_of_task = scope["path"].startswith(_TASKS)

        async def send_with_rules(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                # Pages of a task have rules of their own; those for data would keep them from running.
                if not (is_of_task and "content-security-policy" in headers):
                    headers.update(rules)
            await send(message)

        await self._app(scope, receive, send_with_rules)
