"""Messages keep their form: names, zero values, numbers, times."""

import importlib
import json
import math
import pkgutil
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.spec import wire
from resolute.spec.wire.base import Request, Wire, json_number, json_safe, parse_number, to_rfc3339
from resolute.spec.wire.checkpoints import Checkpoint
from resolute.spec.wire.experiments import CreateExperimentRequest, Experiment, File
from resolute.spec.wire.metrics import MetricSeries
from resolute.spec.wire.trials import Trial

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def all_messages() -> list[type[Wire]]:
    for module in pkgutil.iter_modules(wire.__path__):
        importlib.import_module(f"{wire.__name__}.{module.name}")

    def below(kind: type[Wire]) -> list[type[Wire]]:
        return [found for child in kind.__subclasses__() for found in (child, *below(child))]

    return below(Wire)


def dumped(message: Wire) -> Any:
    return json.loads(message.model_dump_json(by_alias=True))


def test_every_module_of_messages_is_seen() -> None:
    assert len(all_messages()) > 150


@pytest.mark.parametrize("message", all_messages(), ids=lambda message: message.__name__)
def test_fields_are_camel_case_on_the_wire(message: type[Wire]) -> None:
    if message.model_config.get("alias_generator") is None:
        pytest.skip("spelled as its clients read it")

    names = [info.serialization_alias or info.alias or name for name, info in message.model_fields.items()]

    assert all("_" not in name for name in names)


def test_names_do_not_clash() -> None:
    messages = all_messages()
    names = [message.__name__ for message in messages]

    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_absent_things_are_zero_values_not_missing_keys() -> None:
    message = dumped(Experiment(id=1, state="STATE_ACTIVE", start_time=NOON))  # type: ignore[arg-type]

    assert message["endTime"] is None
    assert message["labels"] == []
    assert message["notes"] == ""
    assert message["numTrials"] == 0


def test_sizes_are_strings() -> None:
    trial = Trial(id=1, experiment_id=1, start_time=NOON, state="STATE_ACTIVE", total_checkpoint_size=2**40)  # type: ignore[arg-type]

    assert dumped(trial)["totalCheckpointSize"] == "1099511627776"
    assert dumped(Checkpoint(uuid="u", resources={"a": 5}))["resources"] == {"a": "5"}


def test_sizes_are_read_from_strings_and_numbers() -> None:
    assert File.model_validate({"path": "a", "mtime": "12"}).mtime == 12
    assert File.model_validate({"path": "a", "mtime": 12}).mtime == 12


def test_requests_take_both_spellings_and_forget_nulls() -> None:
    body = {"validate_only": True, "projectId": 3, "template": None, "modelDefinition": None, "unknownKey": 1}

    request = CreateExperimentRequest.model_validate(body)

    assert (request.validate_only, request.project_id, request.template) == (True, 3, None)
    assert request.model_definition == []


def test_defaults_are_not_shared_between_messages() -> None:
    first = Experiment(id=1, state="STATE_ACTIVE", start_time=NOON)  # type: ignore[arg-type]
    first.labels.append("mine")

    assert Experiment(id=2, state="STATE_ACTIVE", start_time=NOON).labels == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (NOON, "2026-01-01T12:00:00.000000Z"),
        (NOON.replace(tzinfo=None), "2026-01-01T12:00:00.000000Z"),
        (NOON.astimezone(timezone(timedelta(hours=2))), "2026-01-01T12:00:00.000000Z"),
        (NOON.replace(microsecond=5), "2026-01-01T12:00:00.000005Z"),
    ],
)
def test_times_are_utc_with_z(moment: datetime, text: str) -> None:
    assert to_rfc3339(moment) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [("NaN", math.nan), ("Nan", math.nan), ("Infinity", math.inf), ("-Infinity", -math.inf), ("inf", math.inf)],
)
def test_spelled_out_numbers_are_read(text: str, value: float) -> None:
    parsed = parse_number(text)

    assert parsed == value or (math.isnan(parsed) and math.isnan(value))


def test_other_words_stay_words() -> None:
    assert parse_number("epoch") == "epoch"


@given(st.floats())
def test_numbers_survive_the_trip(value: float) -> None:
    back = parse_number(json.loads(json.dumps(json_number(value), allow_nan=False)))

    assert back == value or (math.isnan(back) and math.isnan(value))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=12,
    )
)
def test_any_value_becomes_strict_json(value: Any) -> None:
    json.dumps(json_safe(value), allow_nan=False)


def test_series_spell_out_what_json_cannot() -> None:
    series = MetricSeries(trial_id=1, group="g", name="n", steps=[1, 2], values=[math.nan, 1.5], times=[0.0, 1.0])

    assert dumped(series)["values"] == ["NaN", 1.5]


def test_a_request_that_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="dictionary"):
        Request.model_validate([1])
