"""`data pull` from a web address: one file, resumed where it broke off, with a plain word on links that have expired.

Addresses may be signed: what stands behind the question mark is a secret and is in no message.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from urllib.parse import parse_qs, unquote, urlsplit

import httpx

from resolute.domain.errors import Forbidden, InvalidInput, NotFound, ResoluteError, Unavailable
from resolute.imagery.files import make_folder
from resolute.imagery.workers import Progress

SCHEMES = ("http://", "https://")
_TRIES = 5
_TIMEOUT_S = 60.0
_PARTIAL, _REST_IS_WRONG = 206, 416


@dataclass(frozen=True)
class Downloaded:
    path: Path
    size: int
    moved_bytes: int
    """What came over the wire this time; 0 when the file was there already."""


def download(
    url: str,
    folder: Path,
    *,
    on_progress: Progress = lambda _: None,
    pause: Callable[[float], None] = time.sleep,
) -> Downloaded:
    """Progress counts bytes; `pause` waits between tries.

    Raises Forbidden, NotFound, InvalidInput or Unavailable, with what to do next.
    """
    target = make_folder(folder) / _file_name(url)
    moved = 0

    def count(size: int) -> None:
        nonlocal moved
        moved += size
        on_progress(size)

    with httpx.Client(follow_redirects=True, timeout=_TIMEOUT_S) as client:
        for attempt in range(1, _TRIES + 1):
            try:
                size = _fetch(client, url, target, count)
                return Downloaded(target, size, moved)
            except httpx.HTTPError as problem:
                if attempt == _TRIES:
                    raise Unavailable(
                        f"{_shown(url)} broke off {_TRIES} times: {str(problem) or type(problem).__name__}. "
                        "Run it again; it goes on where it was."
                    ) from problem
                pause(2.0 ** (attempt - 1))
            except OSError as problem:
                raise Unavailable(
                    f"{target} cannot be written: {problem.strerror}. Make room, then run it again."
                ) from (problem)
    raise AssertionError("The last try returns or raises.")


def _fetch(client: httpx.Client, url: str, target: Path, count: Callable[[int], None]) -> int:
    beside, mark = target.with_name(f"{target.name}.part"), target.with_name(f"{target.name}.part.etag")
    with client.stream("GET", url, headers=_resume_headers(beside, mark)) as answer:
        if answer.status_code == _REST_IS_WRONG:
            beside.unlink(missing_ok=True)
            raise httpx.TransportError("the file has changed since the last try")
        if answer.is_error:
            raise _refusal(url, answer.status_code)
        _check_kind(url, target, answer)
        whole = int(answer.headers.get("content-length", -1))
        is_resumed = answer.status_code == _PARTIAL
        if not is_resumed and target.is_file() and target.stat().st_size == whole:
            return whole
        mark.write_text(answer.headers.get("etag", ""), encoding="utf-8")
        with beside.open("ab" if is_resumed else "wb") as out:
            expected = out.tell() + whole if whole >= 0 else None
            # As it comes: nothing waits in a buffer when it breaks off. As it lies there: a packed file stays packed.
            for chunk in answer.iter_raw():
                out.write(chunk)
                count(len(chunk))
            size = out.tell()
        if expected is not None and size != expected:
            raise httpx.TransportError(f"{size} of {expected} bytes came")
    os.replace(beside, target)
    mark.unlink(missing_ok=True)
    return size


def _resume_headers(beside: Path, mark: Path) -> dict[str, str]:
    """Only where the server gave the file a mark of its own: without it, another file could be glued on."""
    headers = {"accept-encoding": "identity"}
    etag = mark.read_text(encoding="utf-8") if mark.is_file() else ""
    if beside.is_file() and beside.stat().st_size and etag and not etag.startswith("W/"):
        headers |= {"range": f"bytes={beside.stat().st_size}-", "if-range": etag}
    return headers


def _check_kind(url: str, target: Path, answer: httpx.Response) -> None:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html" and target.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(
            f"{_shown(url)} answers with a web page instead of a file, most likely a login. "
            "Log in with a browser there and copy the address of the download itself."
        )


def _refusal(url: str, status: int) -> ResoluteError:
    if status in (401, 403, 410):
        return Forbidden(f"{_shown(url)} refuses the download ({status}): {_expiry(url)}")
    if status == 404:
        return NotFound(f"There is nothing at {_shown(url)} (404). Check the address.")
    return Unavailable(f"{_shown(url)} answers with status {status}. Try again later; what has come is kept.")


def _expiry(url: str) -> str:
    until = expires_at(url)
    if until is None:
        return "the link may have expired, or needs a login. Get a new link from the page you had it from."
    if until < datetime.now(UTC):
        return f"the link expired on {until:%Y-%m-%d at %H:%M} UTC. Get a new link from the page you had it from."
    return (
        f"the link is good until {until:%Y-%m-%d %H:%M} UTC, so something else is wrong with it. Was it copied whole? "
        "Put it in quotes: a shell cuts it at &."
    )


def expires_at(url: str) -> datetime | None:
    """Until when a signed link of CloudFront, S3, Google or Azure is good; None when it does not say."""
    given = {key.lower(): values[0] for key, values in parse_qs(urlsplit(url).query).items()}
    try:
        if "expires" in given:
            return datetime.fromtimestamp(int(given["expires"]), UTC)
        if "se" in given:
            until = datetime.fromisoformat(given["se"])
            return until if until.tzinfo else until.replace(tzinfo=UTC)
        for cloud in ("amz", "goog"):
            if f"x-{cloud}-expires" in given:
                start = datetime.strptime(given[f"x-{cloud}-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
                return start + timedelta(seconds=int(given[f"x-{cloud}-expires"]))
    except (ValueError, KeyError, OverflowError, OSError):
        return None
    return None


def _file_name(url: str) -> str:
    try:
        httpx.URL(url)
        name = PurePosixPath(unquote(urlsplit(url).path)).name
    except (httpx.InvalidURL, ValueError) as problem:
        raise InvalidInput(f"{url.partition('?')[0]} is not an address: {problem}. Copy the link again.") from problem
    if not urlsplit(url).hostname or not name or name in (".", ".."):
        raise InvalidInput(f"{_shown(url)} names no file. Give the address of the file itself, such as .../labels.tgz.")
    return name


def _shown(url: str) -> str:
    """Without the signature."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
