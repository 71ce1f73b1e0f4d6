"""Every failure a user can meet, in one tree. Edges translate these; they add none.

A message says what is wrong, with the value, and what to do next.
"""


class ResoluteError(Exception):
    """An expected failure. Clients may match on `code`; messages may change."""

    code = "error"


class InvalidInput(ResoluteError):
    """The caller sent something that can never work as it stands."""

    code = "invalid_input"


class InvalidConfig(InvalidInput):
    """An experiment configuration was refused. `problems` holds one sentence per fault."""

    code = "invalid_config"

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class NotFound(ResoluteError):
    code = "not_found"


class AlreadyExists(ResoluteError):
    code = "already_exists"


class IllegalTransition(ResoluteError):
    """The thing exists, but is in a state in which this cannot happen."""

    code = "illegal_transition"


class Fenced(ResoluteError):
    """A report from a run that has been replaced. The sender must stop; nothing was written."""

    code = "fenced"


class Unauthenticated(ResoluteError):
    code = "unauthenticated"


class Forbidden(ResoluteError):
    code = "forbidden"


class TooLarge(InvalidInput):
    code = "too_large"


class TooManyRequests(ResoluteError):
    """The caller has to wait before the next try."""

    code = "too_many_requests"

    def __init__(self, sentence: str, *, retry_after_s: int = 1) -> None:
        super().__init__(sentence)
        self.retry_after_s = retry_after_s


class Unavailable(ResoluteError):
    """Right now it cannot be done (disk full, database away); the same call may work later."""

    code = "unavailable"


class Untrusted(Unavailable):
    """The other side's certificate is not trusted. It may be replaced some day; waiting for that is rarely wise."""

    code = "untrusted"


class NotSupported(ResoluteError):
    """This master does not do that. The message names what does."""

    code = "not_supported"


class CheckpointDamaged(ResoluteError):
    """Files of a checkpoint are missing or differ from its manifest."""

    code = "checkpoint_damaged"


class EnvironmentFailed(ResoluteError):
    """A trial's Python environment could not be built; carries the resolver's own sentence."""

    code = "environment_failed"
