"""Whatever comes in, a configuration or a refusal comes out; and what was resolved stays resolved."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from resolute.domain.errors import InvalidConfig
from resolute.spec.environment import BindMount, Environment
from resolute.spec.experiment import ExperimentConfig, ParsedExperiment, reparse
from resolute.spec.policy import LogPolicy, Optimizations, Profiling
from resolute.spec.resources import Resources
from resolute.spec.searcher import NAMES, AdaptiveAsha, Custom, Pbt
from resolute.spec.storage import S3, SharedFs

Parse = Callable[..., ParsedExperiment]
# The fixture is a plain function without state, so that it may be shared between examples.
FUZZ = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

SECTIONS = (
    ExperimentConfig,
    AdaptiveAsha,
    Custom,
    Pbt,
    Environment,
    BindMount,
    Resources,
    LogPolicy,
    Optimizations,
    Profiling,
    S3,
    SharedFs,
)
KEYS = sorted(
    {key for section in SECTIONS for key in section.model_fields} | {"minval", "vals", "when", "batches", "cpu"}
)
WORDS = [*NAMES, "const", "int", "double", "log", "categorical", "s3", "shared_fs", "best", "([", "2g", "/x", "A=1"]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 100)
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(WORDS)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)
CONFIGS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5)
YAML_NOISE = st.text(alphabet="ab:\n -[]{}&*!|>'\"#\t?%@,1.~<\u2028\x00", max_size=40)

NUMBERS = st.integers(-50, 50)
RANGES = st.tuples(NUMBERS, NUMBERS).filter(lambda ends: ends[0] < ends[1])
PARAMETERS = (
    st.builds(lambda value: {"type": "const", "val": value}, LEAVES.filter(lambda value: value == value))
    | st.builds(lambda ends: {"type": "int", "minval": ends[0], "maxval": ends[1], "count": 3}, RANGES)
    | st.builds(lambda ends: {"type": "double", "minval": ends[0], "maxval": ends[1], "count": 2}, RANGES)
    | st.builds(lambda ends: {"type": "log", "minval": ends[0], "maxval": ends[1], "base": 10, "count": 2}, RANGES)
    | st.builds(lambda vals: {"type": "categorical", "vals": vals}, st.lists(NUMBERS, min_size=2, unique=True))
    | st.integers()
    | st.text(max_size=4)
)
NAMES_OF_PARAMETERS = st.text("abc_", min_size=1, max_size=3)
SPACES = st.dictionaries(
    NAMES_OF_PARAMETERS, PARAMETERS | st.dictionaries(NAMES_OF_PARAMETERS, PARAMETERS, max_size=3), max_size=4
)
SEARCHERS = st.sampled_from(
    [
        {"name": "single", "metric": "loss"},
        {"name": "grid", "metric": ["a", "b"], "smaller_is_better": [True, False]},
        {"name": "random", "metric": "loss", "max_trials": 5, "goal": 0.25},
        {"name": "adaptive_asha", "metric": "loss", "max_trials": 5, "max_length": {"epochs": 3}},
        {"name": "async_halving", "metric": "m", "max_trials": 5, "num_rungs": 2, "time_metric": "t", "max_time": 9},
        {"name": "adaptive_tpe", "metric": "m", "max_trials": 5, "max_length": 40, "patience": {"epochs": 2}},
        {"name": "pbt", "metric": "m", "population_size": 4, "num_rounds": 2, "length_per_round": {"records": 9}},
        {"name": "custom", "metric": "m", "entrypoint": "mine:Search", "config": {"a": [None]}},
    ]
)


def tried(parse: Parse, text: str, **more: Any) -> ParsedExperiment | list[str]:
    """The configuration, or why there is none. Any other exception is a bug and passes through."""
    try:
        return parse(text, **more)
    except InvalidConfig as refusal:
        return refusal.problems


@FUZZ
@given(config=CONFIGS, template=st.none() | CONFIGS, override=st.text(max_size=8))
@example(config={"searcher": {"name": ["x"]}}, template=None, override="a=&")
@example(
    config={"hyperparameters": {"a": {"type": []}}}, template={"hyperparameters": []}, override="hyperparameters=1"
)
def test_any_map_is_a_configuration_or_is_refused_with_reasons(
    config: dict[str, Any], template: dict[str, Any] | None, override: str, parse: Parse
) -> None:
    text = json.dumps({"searcher": {"name": "single", "metric": "x"}, **config})

    outcome = tried(parse, text, template=template, overrides=[f"debug={override}"])

    if isinstance(outcome, ParsedExperiment):
        assert reparse(outcome.resolved) == outcome.config
    else:
        assert outcome
        assert all(": " in problem for problem in outcome)


@FUZZ
@given(text=YAML_NOISE)
def test_any_text_is_a_configuration_or_is_refused_with_reasons(text: str, parse: Parse) -> None:
    assert tried(parse, text)


@FUZZ
@given(searcher=SEARCHERS, space=SPACES, slots=st.integers(0, 64), labels=st.lists(st.text(max_size=4), max_size=3))
def test_what_was_resolved_resolves_to_itself(
    searcher: dict[str, Any], space: dict[str, Any], slots: int, labels: list[str], parse: Parse
) -> None:
    # One parameter that is surely free, so that every searcher has something to search.
    space = {**space, "free": {"type": "categorical", "vals": [1, 2]}}
    config = {
        "searcher": searcher,
        "hyperparameters": space,
        "resources": {"slots_per_trial": slots},
        "labels": labels,
    }

    parsed = parse(json.dumps(config))
    as_json = json.dumps(parsed.resolved, allow_nan=False)

    assert reparse(json.loads(as_json)).resolved() == parsed.resolved
    assert parse(as_json).resolved == parsed.resolved
