"""Names of what belongs to a model: jobs, searches, trials, services and folders. Pure; randomness comes in."""

import hashlib
import re

from resolute.client.lifecycle.faults import InvalidModelProperty

_OTHER = re.compile(r"[^a-z0-9]+")
_LONGEST_LABEL = 63
_TRIAL_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""No vowels, so that no word comes out."""


def sanitize(model_id: str) -> str:
    """`dev/mnist` as `dev-mnist`: the name of the service, of the served model and in the registry."""
    name = _OTHER.sub("-", model_id.lower()).strip("-")
    if not name or not name[0].isalpha() or len(name) > _LONGEST_LABEL:
        raise InvalidModelProperty(
            f"id: {model_id!r} becomes the host name {name!r}, which must begin with a letter and have at most "
            f"{_LONGEST_LABEL} letters, digits and dashes. Choose another id."
        )
    return name


def job_name(model_name: str, token: str, *, kind: str) -> str:
    """`mnist-pytorchjob-de194a8f`; `kind` is pytorchjob, job or tune."""
    return f"{_OTHER.sub('-', model_name.lower()).strip('-') or 'model'}-{kind}-{token[:8]}"


def trial_name(experiment: str, trial_id: int) -> str:
    """`mnist-tune-14c4431d-wttgxggg`: the same trial always has the same name."""
    digest = hashlib.sha256(f"{experiment}/{trial_id}".encode()).digest()
    return f"{experiment}-{''.join(_TRIAL_LETTERS[byte % len(_TRIAL_LETTERS)] for byte in digest[:8])}"
