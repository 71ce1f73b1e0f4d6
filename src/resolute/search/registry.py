"""Searchers by name. A searcher's module is imported when it is first asked for: some bring numpy with them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from resolute.domain.errors import InvalidConfig
from resolute.search.base import BaseSearcher
from resolute.search.rng import Rng
from resolute.search.searcher import EarlierResult, Searcher
from resolute.search.space import Space

_BUILDERS: dict[str, str] = {
    "single": "enumeration:SingleSearcher",
    "random": "enumeration:RandomSearcher",
    "grid": "enumeration:GridSearcher",
    "async_halving": "halving:StoppingHalving",
    "adaptive_asha": "halving:StoppingHalving",
    "pbt": "pbt:PopulationSearcher",
    "tpe": "tpe:TpeSearcher",
    "adaptive_tpe": "adaptive_tpe:AdaptiveTpeSearcher",
    "custom": "custom:CustomSearcher",
}
_PROMOTION = {"async_halving": "halving:PromotionHalving", "adaptive_asha": "halving:PromotionHalving"}
NAMES = tuple(_BUILDERS)


def new_searcher(searcher: dict[str, Any], hyperparameters: dict[str, Any], seed: int) -> Searcher:
    """From the resolved `searcher` and `hyperparameters` sections. Raises InvalidConfig."""
    return _build(searcher, hyperparameters, Rng(seed))


def restore_searcher(searcher: dict[str, Any], hyperparameters: dict[str, Any], snapshot: dict[str, Any]) -> Searcher:
    """The searcher that wrote `snapshot`; it decides from here on exactly as that one would have."""
    restored = _build(searcher, hyperparameters, Rng(0))
    restored.load(snapshot)
    return restored


def extend_searcher(
    searcher: dict[str, Any],
    hyperparameters: dict[str, Any],
    snapshot: dict[str, Any] | None = None,
    *,
    seed: int = 0,
    earlier: Iterable[EarlierResult] = (),
) -> Searcher:
    """More trials for a search, or a new search that starts from earlier results.

    With `snapshot`, the search goes on with the (larger) `max_trials` of `searcher`. Send SearchStarted to receive the
    added trials. `earlier` results, of this or any other experiment, inform what is tried first; those whose
    hyperparameters are no point of this space say nothing about it and are left out.
    """
    extended = _build(searcher, hyperparameters, Rng(seed))
    if snapshot is not None:
        extended.load(snapshot)
        extended.reopen(searcher)
    extended.learn(fitting_results(hyperparameters, earlier))
    return extended


def fitting_results(hyperparameters: Mapping[str, Any], earlier: Iterable[EarlierResult]) -> list[EarlierResult]:
    """Results at points of this space, by their free parameters alone: constants are those of the new search."""
    space = Space(hyperparameters)
    pairs = [(space.point_of(result.hparams), result) for result in earlier]
    return [replace(result, hparams=space.nested(point)) for point, result in pairs if point]


def _build(searcher: Mapping[str, Any], hyperparameters: Mapping[str, Any], rng: Rng) -> BaseSearcher:
    space = Space(hyperparameters)
    build = _builder(searcher)
    problems = _problems(searcher, space, needs_free=getattr(build, "needs_free_parameter", True))
    if problems:
        raise InvalidConfig(problems)
    return build(searcher, space, rng)


def _builder(searcher: Mapping[str, Any]) -> Callable[[Mapping[str, Any], Space, Rng], BaseSearcher]:
    name = str(searcher.get("name", ""))
    if name not in _BUILDERS:
        raise InvalidConfig([f"searcher.name is {name!r}; use one of: {', '.join(NAMES)}."])
    is_promotion = searcher.get("stop_once") is False and name in _PROMOTION
    module, _, attribute = (_PROMOTION if is_promotion else _BUILDERS)[name].partition(":")
    found: Callable[[Mapping[str, Any], Space, Rng], BaseSearcher] = getattr(
        import_module(f"resolute.search.{module}"), attribute
    )
    return found


def _problems(searcher: Mapping[str, Any], space: Space, *, needs_free: bool) -> list[str]:
    problems = []
    name = searcher["name"]
    if needs_free and not space.free:
        problems.append(
            f"hyperparameters: no parameter is free, so every trial of searcher {name} would be the same. "
            "Give one a range, for example {type: log, minval: -5, maxval: -1}, or use searcher single."
        )
    for key, least in (("max_trials", 1), ("max_concurrent_trials", 0), ("max_failed_trials", 0), ("max_rungs", 1)):
        value = searcher.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            problems.append(f"searcher.{key} is {value!r}; it must be a whole number of at least {least}.")
    if name not in ("single", "grid", "custom", "pbt") and searcher.get("max_trials") is None:
        problems.append(f"searcher.max_trials is missing; searcher {name} needs to know how many trials to run.")
    return problems
