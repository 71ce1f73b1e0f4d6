"""Requests drawn from the API's own schema, about things that are there: no server error, and answers as described.

`tests/api/test_any_request.py` sends what no client would; here bodies have the right shape and ids name real things,
so that requests get behind the first check.
"""

import contextlib
import itertools
import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core import NotSet
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import response_schema_conformance
from tests.api.rights.world import PLACES, World

from resolute.domain.rights import RightsMode

CASES, MANY_CASES = 1_000, 20_000
_A_ROUND = 5
_INTENDED = (501,)
_LEFT_OUT = ("/api/v1/auth/log", "/serving/", "/api/v1/events")
"""The first would log the test out, the others have tests of their own."""
_LINES = ("/logs", "/metrics-stream/", "/trials/metrics/")
"""Answered with lines of JSON."""
_KNOWN_SHARE = 0.7
"""Of the ids in paths: the rest is drawn too, and names nothing."""


@pytest.fixture
def walk(world: World, doors: dict[RightsMode, Any]) -> Any:
    yield Walk(world, doors[RightsMode.BASIC])
    world.restore()


class Walk:
    def __init__(self, world: World, door: Any) -> None:
        self._world = world
        self._door = door
        document = door.call("cluster-admin", "GET", "/openapi.json").json
        found = (each.ok() for each in schemathesis.openapi.from_dict(document).get_all_operations())
        self._operations = [each for each in found if not each.path.startswith(_LEFT_OUT)]
        self._rng = random.Random(11)
        self.sent = 0

    def problems(self, count: int) -> Iterator[str]:
        """Of at least so many requests, in rounds over all operations: what the schema allows, and what it does not."""
        for number in itertools.count():
            if self.sent >= count:
                return
            mode = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)[number % 2]
            for place, operation in enumerate(self._operations):
                for case in _cases(operation, mode, 1000 * number + place):
                    yield from self._told(case)

    def _told(self, case: Any) -> Iterator[str]:
        problem = self._problem(case)
        self.sent += 1
        if problem:
            yield f"{case.method} {case.formatted_path} {dict(case.query)} {case.body!r:.300}: {problem}"

    def _problem(self, case: Any) -> str:
        self._make_sense_of(case)
        address = case.formatted_path + (f"?{urlencode(case.query, doseq=True)}" if case.query else "")
        body = None if isinstance(case.body, NotSet) else case.body
        try:
            answer = self._door.call("cluster-admin", case.method, address, body)
        except Exception as error:
            return f"raised {error!r}"
        if case.method != "GET" and answer.status < 300:
            self._world.restore()
        if answer.status >= 500 and answer.status not in _INTENDED:
            return f"{answer.status} {answer.content[:200]!r}"
        return _wrong_shape(case, answer)

    def _make_sense_of(self, case: Any) -> None:
        """Ids are mostly those of things; what waits for others by design waits for nobody."""
        place = self._world.places[self._rng.choice(PLACES)]
        known = {**self._world.common, **place.ids}
        for name in case.path_parameters:
            if name in known and self._rng.random() < _KNOWN_SHARE:
                case.path_parameters[name] = known[name]
        if "timeoutSeconds" in case.query:
            case.query["timeoutSeconds"] = 0
        if case.path.endswith("/all_gather") and isinstance(case.body, dict):
            case.body["numPeers"] = 1


def _cases(operation: Any, mode: GenerationMode, number: int) -> list[Any]:
    drawn: list[Any] = []

    @seed(number)
    @settings(
        max_examples=_A_ROUND,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def draw(case: Any) -> None:
        drawn.append(case)

    # There is nothing wrong to send where nothing can be sent.
    with contextlib.suppress(Unsatisfiable):
        draw()
    return drawn


def _wrong_shape(case: Any, answer: Any) -> str:
    """Whether an answer in JSON is none that the schema describes."""
    is_json = answer.headers.get("content-type") == "application/json"
    if answer.status >= 300 or not is_json or any(part in case.path for part in _LINES):
        return ""
    response = httpx.Response(
        answer.status,
        headers=answer.headers,
        content=answer.content,
        request=httpx.Request(case.method, f"http://127.0.0.1{case.formatted_path}"),
    )
    response.elapsed = timedelta()
    try:
        case.validate_response(response, checks=[response_schema_conformance])
    except (FailureGroup, Failure) as error:
        return str(error)[:600]
    return ""


def test_a_thousand_cases_of_the_schema_make_no_server_error_and_are_answered_as_described(walk: Any) -> None:
    problems = list(walk.problems(CASES))

    assert walk.sent >= CASES
    assert problems == [], "\n" + "\n".join(problems)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_twenty_thousand_cases_of_the_schema_make_no_server_error_and_are_answered_as_described(walk: Any) -> None:
    problems = list(walk.problems(MANY_CASES))

    assert walk.sent >= MANY_CASES
    assert problems == [], "\n" + "\n".join(problems)
