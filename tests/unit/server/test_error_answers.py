"""Every domain error has a status; the body has the shape that clients parse."""

import pytest

from resolute.domain import errors
from resolute.domain.errors import InvalidConfig, ResoluteError
from resolute.server.errors import STATUSES, body_of, status_of, stream_line_of


def all_errors() -> list[type[ResoluteError]]:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ResoluteError)]
    return sorted(kinds, key=lambda kind: kind.__name__)


def made(kind: type[ResoluteError]) -> ResoluteError:
    return kind(["one", "two"]) if kind is InvalidConfig else kind("a sentence")


@pytest.mark.parametrize("kind", all_errors(), ids=lambda kind: kind.__name__)
def test_every_error_has_a_status_of_its_own_meaning(kind: type[ResoluteError]) -> None:
    status, number, reason = status_of(made(kind))

    assert 400 <= status < 600
    assert 1 <= number <= 16
    assert reason
    if kind not in (ResoluteError, errors.CheckpointDamaged, errors.EnvironmentFailed):
        assert status != 500


def test_narrow_classes_are_found_before_wide_ones() -> None:
    kinds = list(STATUSES)

    for index, kind in enumerate(kinds):
        assert not any(issubclass(later, kind) and later is not kind for later in kinds[index + 1 :])


def test_the_body_carries_number_name_sentence_and_word() -> None:
    assert body_of(errors.NotFound("experiment not found: 99")) == {
        "error": {"code": 5, "reason": "NotFound", "error": "experiment not found: 99", "type": "not_found"}
    }


def test_all_problems_of_a_configuration_are_told() -> None:
    assert body_of(InvalidConfig(["one", "two"]))["error"]["error"] == "one\ntwo"


def test_the_last_line_of_a_failed_stream() -> None:
    line = stream_line_of(errors.Unavailable("later"))["error"]

    assert line == {"grpcCode": 14, "httpCode": 503, "message": "later", "httpStatus": "Unavailable", "details": []}
