"""What a model server gives up on: too much at once, too late, or a model that failed. No transport codes here."""

from resolute.domain.errors import InvalidInput, NotFound, NotSupported, ResoluteError, TooLarge, Unavailable


class Overloaded(Unavailable):
    """The queue is full. `retry_after_s` is when there should be room again."""

    code = "overloaded"

    def __init__(self, message: str, *, retry_after_s: int = 1) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class TimedOut(Unavailable):
    """No answer within the time a request may take."""

    code = "timed_out"


class ModelFailed(ResoluteError):
    """The model raised something on input it had accepted. Its log has the traceback; the caller gets the sentence."""

    code = "model_failed"


_BY_CODE: dict[str, type[ResoluteError]] = {
    kind.code: kind for kind in (InvalidInput, NotFound, NotSupported, TooLarge, Unavailable, ModelFailed)
}


def error_of(code: str, message: str) -> ResoluteError:
    """The error that left a model process as a code and a sentence."""
    return _BY_CODE.get(code, ModelFailed)(message)
