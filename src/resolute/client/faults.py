"""From an HTTP answer, or the lack of one, to the domain error that says it to a person."""

import json
from typing import Any, NamedTuple

import httpx

from resolute.domain.errors import (
    AlreadyExists,
    Fenced,
    Forbidden,
    IllegalTransition,
    InvalidInput,
    NotFound,
    NotSupported,
    ResoluteError,
    TooLarge,
    Unauthenticated,
    Unavailable,
    Untrusted,
)
from resolute.host.trust import why_not_trusted

_BY_STATUS: dict[int, type[ResoluteError]] = {
    400: InvalidInput,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: AlreadyExists,
    413: TooLarge,
    501: NotSupported,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}
_BY_NUMBER: dict[int, type[ResoluteError]] = {9: IllegalTransition, 10: Fenced}
"""Two gRPC numbers say more than the status they travel with: FailedPrecondition and Aborted."""


class Refusal(NamedTuple):
    """What an answer that is no success means: the domain error, and the master's words for it."""

    kind: type[ResoluteError]
    sentence: str
    is_masters_own: bool
    """False when the answer held no sentence, as that of a proxy in between."""


def refusal_of(response: httpx.Response) -> Refusal:
    """The one reading of error answers, for people's sessions and for tasks. `response` has been read."""
    body = _body(response)
    if response.is_redirect:
        target = response.headers.get("location", "another address")
        return Refusal(InvalidInput, f"it answers with a redirect to {target}. Give that address as the master.", False)
    sentence = _sentence(body)
    text = sentence or response.text.strip().replace("\n", " ")[:200] or response.reason_phrase
    return Refusal(_kind(body, response.status_code), text, bool(sentence))


def error_from(response: httpx.Response, master: str) -> ResoluteError:
    """The error that the master meant, said to a person. `response` has been read."""
    kind, sentence, is_masters_own = refusal_of(response)
    if response.is_redirect:
        return InvalidInput(f"{master} is not where the master is: {sentence}")
    if response.status_code == 401 and not response.request.url.path.endswith("/auth/login"):
        said = sentence if is_masters_own else "Not logged in."
        return Unauthenticated(f"{said} Log in to {master} with: resolute user login NAME")
    if not is_masters_own:
        call = f"{response.request.method} {response.url.path}"
        sentence = f"{master} answered {response.status_code} to {call}: {sentence}"
    return kind(sentence)


def unreachable(master: str, problem: httpx.TransportError) -> Unavailable:
    if isinstance(problem, httpx.TimeoutException):
        return Unavailable(f"The master at {master} did not answer in time. It may be busy; try again.")
    if why := why_not_trusted(problem):
        return Untrusted(f"The certificate of {master} is not trusted: {why}.")
    why = str(problem) or type(problem).__name__
    return Unavailable(
        f"No master answers at {master} ({why}). Start one with `resolute up`, or name another with --master URL."
    )


def stream_error(problem: dict[str, Any]) -> ResoluteError:
    """The last line of a stream that broke off."""
    kind = _BY_STATUS.get(int(problem.get("httpCode") or 0), ResoluteError)
    return kind(str(problem.get("message") or "The master ended the stream with an error; try again."))


def _kind(body: dict[str, Any], status: int) -> type[ResoluteError]:
    error = body.get("error")
    if isinstance(error, dict):
        named = _by_code().get(str(error.get("type")))
        if named is not None:
            return named
        if error.get("code") in _BY_NUMBER:
            return _BY_NUMBER[error["code"]]
    return _BY_STATUS.get(status, ResoluteError)


def _by_code() -> dict[str, type[ResoluteError]]:
    """Classes that take one sentence, by their stable word. InvalidConfig's parts do not travel; its parent does."""
    known: dict[str, type[ResoluteError]] = {"invalid_config": InvalidInput}
    pending = [ResoluteError]
    while pending:
        kind = pending.pop()
        known.setdefault(kind.code, kind)
        pending += kind.__subclasses__()
    return known


def _body(response: httpx.Response) -> dict[str, Any]:
    try:
        body = json.loads(response.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _sentence(body: dict[str, Any]) -> str:
    error = body.get("error")
    if isinstance(error, dict):
        return str(error.get("error") or error.get("message") or "")
    return str(body.get("message") or error or "")
