"""Keeps a preview of a search within bounds: so many trials, so long, and only while somebody waits for it."""

import time
from collections.abc import Callable

from anyio import from_thread
from starlette.requests import Request

from resolute.domain.errors import InvalidInput, Unavailable
from resolute.spec.experiment import ExperimentConfig
from resolute.spec.limits import MAX_PREVIEW_TRIALS, PREVIEW_S
from resolute.spec.searcher import Grid, Pbt

_LOOK_EVERY_S = 0.5
_INSTEAD = "Preview a smaller search, or run `resolute search simulate` on your own machine."


def require_small(config: ExperimentConfig) -> None:
    """Raises InvalidInput, before anything is simulated, for a search of too many trials."""
    place, trials = _trials_of(config)
    if trials > MAX_PREVIEW_TRIALS:
        raise InvalidInput(
            f"{place}: a preview of {trials:,} trials is not made; at most {MAX_PREVIEW_TRIALS:,} are. {_INSTEAD}"
        )


def _trials_of(config: ExperimentConfig) -> tuple[str, int]:
    searcher = config.searcher
    if isinstance(searcher, Grid):
        return "hyperparameters", config.hyperparameters.points or 0
    if isinstance(searcher, Pbt):
        return "searcher.num_rounds", searcher.population_size * searcher.num_rounds
    return "searcher.max_trials", getattr(searcher, "max_trials", None) or 1


def patience(request: Request, *, limit_s: float = PREVIEW_S) -> Callable[[], None]:
    """A check for a worker thread: raises once `limit_s` have passed, or the client has gone."""
    began = time.monotonic()
    next_look = began + _LOOK_EVERY_S

    def check() -> None:
        nonlocal next_look
        now = time.monotonic()
        if now - began > limit_s:
            raise InvalidInput(f"The preview was given up after {limit_s:g} s. {_INSTEAD}")
        if now >= next_look:
            next_look = now + _LOOK_EVERY_S
            if from_thread.run(request.is_disconnected):
                raise Unavailable("The preview was given up: nobody waits for it any more.")

    return check
