"""Settings are checked before anything starts; log lines say what happened and nothing of what was sent."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from resolute.cli.serve import name_of, options_of
from resolute.domain.deployment import Serving
from resolute.domain.errors import (
    InvalidInput,
    NotFound,
    NotSupported,
    ResoluteError,
    TooLarge,
    Unavailable,
)
from resolute.serving.http_message import Request, Response, error_response, status_of
from resolute.serving.http_server import RequestLog
from resolute.serving.limits import ModelFailed, Overloaded, TimedOut, error_of
from resolute.serving.replica_report import MasterReport
from resolute.serving.settings import Limits, ModelSettings


@pytest.mark.parametrize("name", ["", "a/b", "a:b", "a b", "a?b", "a%b"])
def test_a_name_that_cannot_stand_in_an_address_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be called"):
        ModelSettings(name=name, source=Path())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"max_batch_size": 0}, "max_batch_size is 0"),
        ({"max_batch_delay_ms": -1}, "max_batch_delay_ms is -1"),
        ({"max_queue": 0}, "max_queue is 0"),
        ({"max_body_bytes": 0}, "max_body_bytes is 0"),
        ({"timeout_s": 0}, "timeout_s 0 must be above 0"),
    ],
)
def test_limits_that_let_nothing_through_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Limits(**change)


def test_a_deployment_and_a_server_have_the_same_limits_by_default() -> None:
    serving, limits = Serving(), Limits()

    for name in ("max_batch_size", "max_batch_delay_ms", "max_queue", "timeout_s", "max_body_bytes"):
        assert getattr(serving, name) == getattr(limits, name)


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (InvalidInput("x"), 400),
        (NotFound("x"), 404),
        (TooLarge("x"), 413),
        (Overloaded("x"), 429),
        (ModelFailed("x"), 500),
        (ResoluteError("x"), 500),
        (NotSupported("x"), 501),
        (Unavailable("x"), 503),
        (TimedOut("x"), 504),
    ],
)
def test_each_error_has_its_status(problem: ResoluteError, status: int) -> None:
    assert status_of(problem) == status
    assert json.loads(bytes(error_response(problem).parts[0])) == {"error": "x"}


def test_who_is_sent_away_is_told_when_to_come_back() -> None:
    assert error_response(Overloaded("x", retry_after_s=7)).headers == (("retry-after", "7"),)
    assert error_response(Unavailable("x")).headers == (("retry-after", "1"),)


def test_errors_of_a_model_process_keep_their_kind() -> None:
    assert isinstance(error_of("invalid_input", "x"), InvalidInput)
    assert isinstance(error_of("not_supported", "x"), NotSupported)
    assert isinstance(error_of("something else", "x"), ModelFailed)


def test_a_log_line_tells_what_happened_and_nothing_of_the_content() -> None:
    output = io.StringIO()
    log = RequestLog(output, clock=lambda: 0)
    request = Request("POST", "/v1/models/m:predict", body=b"secret", model="m", batch=3)

    log.add(request, Response([b"secret answer"]), 0.0123456)
    assert output.getvalue() == ""
    log.flush()

    assert json.loads(output.getvalue()) == {
        "time": "1970-01-01T00:00:00Z",
        "model": "m",
        "method": "POST",
        "path": "/v1/models/m:predict",
        "code": 200,
        "ms": 12.346,
        "batch": 3,
        "bytes": 6,
        "sent": 13,
    }


def test_probes_leave_no_line() -> None:
    output = io.StringIO()
    log = RequestLog(output)

    log.add(Request("GET", "/v2/health/ready"), Response([]), 0)
    log.add(Request("GET", "/v2/health/ready"), Response([], 503), 0)
    log.flush()

    assert output.getvalue() == ""


def test_outside_an_allocation_there_is_nobody_to_report_to() -> None:
    whole = {"RESOLUTE_MASTER": "http://m:8080/", "RESOLUTE_ALLOCATION_ID": "7.1", "DET_SESSION_TOKEN": "t"}

    report = MasterReport.of(whole)

    assert report == MasterReport(master="http://m:8080", allocation_id="7.1", token="t")
    for name in whole:
        assert MasterReport.of({key: value for key, value in whole.items() if key != name}) is None


def test_a_model_is_named_after_its_file() -> None:
    assert name_of(Path("/models/xview fasterrcnn.mar")) == "xview-fasterrcnn"
    assert name_of(Path("/")) == "model"


def test_options_are_json_where_they_can_be() -> None:
    assert options_of(["score_threshold=0.4", "device=cpu", "names=[1]", "a=b=c"]) == {
        "score_threshold": 0.4,
        "device": "cpu",
        "names": [1],
        "a": "b=c",
    }
    with pytest.raises(InvalidInput, match="is not KEY=VALUE"):
        options_of(["score_threshold"])
