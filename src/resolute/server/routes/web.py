"""The built web UI, from `server/static`. Any path under `/det` that is no file is the app's own page.

The build leaves a brotli and a gzip form beside the files that get smaller by it (`web/scripts/compress.mjs`).
"""

import functools
import hashlib
import mimetypes
from pathlib import Path

from fastapi import Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from resolute.domain import needs
from resolute.domain.errors import NotFound
from resolute.server.encodings import best_encoding
from resolute.server.resource import Resource

router = Resource(include_in_schema=False)

_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_ASKED_EACH_TIME = {"Cache-Control": "no-cache"}
# Suffixes of the compressed forms, the smaller one first.
_FORMS = {"br": ".br", "gzip": ".gz"}
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
        return _served(request, file, _FOREVER if path.startswith("assets/") else _ASKED_EACH_TIME)
    index = _file(request, "index.html")
    if index is None:
        return HTMLResponse(_NOT_BUILT)
    return _served(request, index, _ASKED_EACH_TIME)


@router.get("/assets/{path:path}", needs=needs.PUBLIC)
def assets(path: str, request: Request) -> Response:
    file = _file(request, f"assets/{path}")
    if file is None:
        raise NotFound(f"no such file of the web UI: {path}")
    return _served(request, file, _FOREVER)


@router.get("/favicon.ico", needs=needs.PUBLIC)
def favicon(request: Request) -> Response:
    file = _file(request, "favicon.ico") or _file(request, "favicon.svg")
    return _served(request, file, _ASKED_EACH_TIME) if file else Response(status_code=204)


def _served(request: Request, file: Path, caching: dict[str, str]) -> Response:
    """The smallest form of the file that the caller takes, or 304 when he has it."""
    forms = {coding: form for coding, suffix in _FORMS.items() if (form := Path(f"{file}{suffix}")).is_file()}
    coding = best_encoding(request.headers.get("accept-encoding", ""), list(forms))
    sent = forms[coding] if coding else file
    headers = {**caching, "ETag": _etag(sent)}
    if forms:
        headers["Vary"] = "Accept-Encoding"
    if headers["ETag"] in _known(request):
        return Response(status_code=304, headers=headers)
    if coding:
        headers["Content-Encoding"] = coding
    return FileResponse(sent, headers=headers, media_type=mimetypes.guess_type(file)[0])


def _known(request: Request) -> set[str]:
    """The forms that the caller says he has."""
    return {each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")}


def _etag(file: Path) -> str:
    stat = file.stat()
    return f'"{_digest(file, stat.st_mtime_ns, stat.st_size)}"'


@functools.lru_cache(maxsize=1000)
def _digest(file: Path, mtime_ns: int, size: int) -> str:
    """Of the content: every `index.html` has the same size, and those of reproducible wheels have the same time too."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "blake2s").hexdigest()[:32]


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
