"""From a domain error to an HTTP answer, in the shape that clients of this API parse. Adds no errors of its own.

The body is `{"error": {"code", "reason", "error", "type"}}`: a gRPC status number and name, the sentence for people,
and our stable word for programs.
"""

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response

from resolute.domain.errors import (
    AlreadyExists,
    CheckpointDamaged,
    EnvironmentFailed,
    Fenced,
    Forbidden,
    IllegalTransition,
    InvalidInput,
    NotFound,
    NotSupported,
    ResoluteError,
    TooLarge,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
)
from resolute.server.entrance import sign_in_page
from resolute.server.headers import browser_rules
from resolute.server.known_operations import form_of, operation_of

log = logging.getLogger(__name__)

# HTTP status, gRPC number, gRPC name. The first class that matches decides, so narrow ones stand first.
STATUSES: dict[type[ResoluteError], tuple[int, int, str]] = {
    TooLarge: (413, 8, "ResourceExhausted"),
    TooManyRequests: (429, 8, "ResourceExhausted"),
    InvalidInput: (400, 3, "InvalidArgument"),
    NotFound: (404, 5, "NotFound"),
    AlreadyExists: (409, 6, "AlreadyExists"),
    Fenced: (409, 10, "Aborted"),
    IllegalTransition: (400, 9, "FailedPrecondition"),
    Unauthenticated: (401, 16, "Unauthenticated"),
    Forbidden: (403, 7, "PermissionDenied"),
    Unavailable: (503, 14, "Unavailable"),
    NotSupported: (501, 12, "Unimplemented"),
    CheckpointDamaged: (500, 15, "DataLoss"),
    EnvironmentFailed: (500, 2, "Unknown"),
    ResoluteError: (500, 13, "Internal"),
}
_FROM_HTTP: dict[int, type[ResoluteError]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    413: TooLarge,
    501: NotSupported,
    503: Unavailable,
}


def answer(error: ResoluteError) -> JSONResponse:
    status, _, _ = status_of(error)
    headers = {"Retry-After": str(error.retry_after_s)} if isinstance(error, TooManyRequests) else None
    return JSONResponse(body_of(error), status_code=status, headers=headers)


def status_of(error: ResoluteError) -> tuple[int, int, str]:
    return next(status for kind, status in STATUSES.items() if isinstance(error, kind))


def body_of(error: ResoluteError) -> dict[str, object]:
    _, number, reason = status_of(error)
    # What was sent may be quoted in the sentence, and need not be text that can be sent back.
    sentence = str(error).encode(errors="backslashreplace").decode()
    return {"error": {"code": number, "reason": reason, "error": sentence, "type": error.code}}


def stream_line_of(error: ResoluteError) -> dict[str, object]:
    """The last line of a stream that failed on the way."""
    status, number, reason = status_of(error)
    return {
        "error": {"grpcCode": number, "httpCode": status, "message": str(error), "httpStatus": reason, "details": []}
    }


def add_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(ResoluteError, _domain_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(UnicodeEncodeError, _impossible_value)
    app.add_exception_handler(OverflowError, _impossible_value)
    app.add_exception_handler(Exception, _bug)


async def _domain_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ResoluteError)
    entrance = sign_in_page(request) if isinstance(error, Unauthenticated) else None
    return entrance or answer(error)


async def _invalid_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    meant = operation_of(request.method, request.url.path)
    if meant is not None and meant.form != form_of(request.scope["route"].path):
        # A word of the path was taken for a parameter of another operation.
        return answer(NotSupported(meant.refusal))
    return answer(InvalidInput(f"{request.method} {request.url.path}: " + "; ".join(_sentences(error))))


def _sentences(error: RequestValidationError) -> list[str]:
    sentences = []
    for problem in error.errors():
        place = ".".join(str(part) for part in problem["loc"] if part != "body") or "the body"
        given = f", got {problem['input']!r:.80}" if problem["type"] not in ("missing", "json_invalid") else ""
        sentences.append(f"{place}: {problem['msg'][0].lower()}{problem['msg'][1:]}{given}")
    return sentences


async def _impossible_value(request: Request, error: Exception) -> JSONResponse:
    """A text that is no Unicode, or a number beyond what a machine holds, that got past the checks."""
    log.warning("%s %s was refused: %r", request.method, request.url.path, error)
    return answer(
        InvalidInput(f"{request.method} {request.url.path}: a value is too large or not valid Unicode ({error}).")
    )


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, ResoluteError):
        # Raised while the framework read the body.
        return answer(error.__cause__)
    meant = operation_of(request.method, request.url.path) if error.status_code in (404, 405) else None
    if meant is not None:
        return answer(NotSupported(meant.refusal))
    kind = _FROM_HTTP.get(error.status_code, InvalidInput)
    sentence = str(error.detail)
    if error.status_code in (404, 405):
        sentence = (
            f"This master has no {request.method} {request.url.path}. Check the address and the client's version."
        )
    response = JSONResponse(body_of(kind(sentence)), status_code=error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _bug(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed: %r", request.method, request.url.path, error)
    response = answer(
        ResoluteError("The master met an unexpected error; its log has the details (`resolute master logs`).")
    )
    # Answered outside of all middleware.
    response.headers.update(browser_rules(request.url.path))
    return response
