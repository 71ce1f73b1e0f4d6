"""Where a browser goes that opens a task before anybody has signed in: to the page for that, and back afterwards."""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse

_OF_TASKS = ("/proxy/", "/det/interactive/")


def sign_in_page(request: Request) -> RedirectResponse | None:
    """None for programs, which are told what to send, and on a task's own origin, which has no such page."""
    headers = request.headers
    is_opened = (
        request.method == "GET"
        and request.url.path.startswith(_OF_TASKS)
        and "text/html" in headers.get("accept", "")
        and headers.get("sec-fetch-mode", "navigate") == "navigate"
        and "authorization" not in headers
    )
    if not is_opened or request.app.state.server.origins.task_of(headers.get("host", "")) is not None:
        return None
    query = request.url.query
    back = request.scope["raw_path"].partition(b"?")[0].decode("latin-1") + (f"?{query}" if query else "")
    return RedirectResponse(f"/det/signin?next={quote(back, safe='')}", 302, headers={"Cache-Control": "no-store"})
