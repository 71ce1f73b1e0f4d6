"""The built web UI, from `server/static`. Any path under `/det` that is no file is the app's own page."""

from pathlib import Path

from fastapi import Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from resolute.domain import needs
from resolute.domain.errors import NotFound
from resolute.server.resource import Resource

router = Resource(include_in_schema=False)

_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_NOT_BUILT = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Resolute</title></head>
<body><h1>Resolute is running</h1>
<p>The web UI is not part of this build. Run <code>make ui</code> in the checkout and reload this page.</p>
<p>Until then the command line does everything: <code>resolute experiment list</code>,
<code>resolute experiment create CONFIG DIRECTORY</code>.</p></body></html>"""


@router.get("/", needs=needs.PUBLIC)
def root() -> Response:
    return RedirectResponse("/det/")


@router.get("/det", needs=needs.PUBLIC)
def det() -> Response:
    return RedirectResponse("/det/")


@router.get("/det/{path:path}", needs=needs.PUBLIC)
def web_ui(path: str, request: Request) -> Response:
    file = _file(request, path)
    if file is not None:
        return FileResponse(file, headers=_FOREVER if path.startswith("assets/") else None)
    index = _file(request, "index.html")
    if index is None:
        return HTMLResponse(_NOT_BUILT)
    return FileResponse(index, headers={"Cache-Control": "no-cache"})


@router.get("/assets/{path:path}", needs=needs.PUBLIC)
def assets(path: str, request: Request) -> Response:
    file = _file(request, f"assets/{path}")
    if file is None:
        raise NotFound(f"no such file of the web UI: {path}")
    return FileResponse(file, headers=_FOREVER)


@router.get("/favicon.ico", needs=needs.PUBLIC)
def favicon(request: Request) -> Response:
    file = _file(request, "favicon.ico") or _file(request, "favicon.svg")
    return FileResponse(file) if file else Response(status_code=204)


def _file(request: Request, path: str) -> Path | None:
    """A file inside the built UI, never one outside it."""
    if not path:
        return None
    static: Path = request.app.state.static
    try:
        found = (static / path).resolve()
        return found if found.is_relative_to(static.resolve()) and found.is_file() else None
    except (OSError, ValueError):
        raise NotFound(f"no such page of the web UI: {path[:80]!r}. Its name is too long, or is no name.") from None
