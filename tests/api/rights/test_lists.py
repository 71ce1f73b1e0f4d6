"""No list, count, stream or notice shows anything of a workspace that its caller may not see, whatever he asks for."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.api.rights.calls import call_of
from tests.api.rights.table import ROWS
from tests.api.rights.traces import shown_places
from tests.api.rights.world import MARKS, PLACES, World

from resolute.domain.rights import RightsMode, RoleName
from resolute.engine.access import rights

LISTS = [row for row in ROWS if row.roles.endswith("listed")]
_WAITING = ("follow", "periodSeconds", "timeoutSeconds")
SEES_ALL = (RoleName.VIEWER, RoleName.EDITOR_RESTRICTED, RoleName.EDITOR, RoleName.WORKSPACE_ADMIN)
_LEFT_OUT = ("/serving/", "/proxy/", "/openapi.json", "/api/v1/events")
READS = [row for row in ROWS if row.method == "GET" and not row.path.startswith(_LEFT_OUT) and row.roles != "open"]


@pytest.fixture(scope="module")
def schema(doors: dict[RightsMode, Any]) -> Any:
    return doors[RightsMode.ROLES].call("cluster-admin", "GET", "/openapi.json").json


@pytest.mark.parametrize("row", [row for row in LISTS if row.method == "GET"], ids=lambda row: row.path)
def test_a_list_shows_everything_of_the_workspaces_that_the_caller_may_see(
    world: World, doors: dict[RightsMode, Any], row: Any
) -> None:
    address, _ = call_of(world, world.places["own"], row.method, row.path)
    whole = doors[RightsMode.ROLES].call("cluster-admin", "GET", address)
    seen = doors[RightsMode.ROLES].call("viewer", "GET", address)

    there = shown_places(world, whole.content)
    assert shown_places(world, seen.content) == [place for place in there if place != "foreign"]


# ------------------------------------------------------------------------------------------------------ any question


@pytest.fixture
def asker(world: World) -> Any:
    """Assigns roles to somebody who has none; they are taken back by the world."""
    yield lambda role, place, is_group: _assign(world, role, place, is_group)
    world.restore()


def _assign(world: World, role: RoleName, place: str, is_group: bool) -> None:
    platform, user_id = world.platforms[RightsMode.ROLES], world.users["nobody"]
    workspace_id = world.places[place].ids["workspace_id"]
    if is_group:
        group = rights.add_group(platform, f"{role} of {place}", [user_id])
        rights.assign_role(platform, role, group_id=group.id, workspace_id=workspace_id)
    else:
        rights.assign_role(platform, role, user_id=user_id, workspace_id=workspace_id)


_ASSIGNED = st.lists(
    st.tuples(st.sampled_from([*SEES_ALL, RoleName.MODEL_REGISTRY_VIEWER]), st.sampled_from(PLACES), st.booleans()),
    max_size=3,
    unique_by=lambda each: each[:2],
)


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(assigned=_ASSIGNED, data=st.data())
def test_no_question_brings_up_what_is_not_ones_own(
    world: World, doors: dict[RightsMode, Any], schema: Any, asker: Any, assigned: Any, data: st.DataObject
) -> None:
    """Random roles in random workspaces, direct and through groups; random routes with random filters over all ids."""
    world.restore()
    for role, place, is_group in assigned:
        asker(role, place, is_group)
    viewed = {place for role, place, _ in assigned if role in SEES_ALL}
    known = {place for _, place, _ in assigned}
    for _ in range(8):
        row = data.draw(st.sampled_from(READS))
        address = _address(world, row, schema, data)

        answer = doors[RightsMode.ROLES].call("nobody", row.method, address)

        assert answer.status != 500, (address, answer.content)
        if answer.status < 300:
            allowed = known if row.shows_with == "model-registry-viewer" else viewed
            shown = set(shown_places(world, answer.content)) - allowed
            assert not shown, (address, assigned, answer.content)


def _address(world: World, row: Any, schema: Any, data: st.DataObject) -> str:
    place = world.places[data.draw(st.sampled_from(PLACES))]
    address, _ = call_of(world, place, row.method, row.path)
    operation = schema["paths"].get(row.path, {}).get(row.method.lower(), {})
    query = []
    for parameter in operation.get("parameters", ()):
        if parameter["in"] != "query" or parameter["name"] in _WAITING:
            continue
        if parameter["name"] + "=" not in address and data.draw(st.integers(0, 3)) == 0:
            query.append((parameter["name"], data.draw(_values(world, parameter))))
    separator = "&" if "?" in address else "?"
    return f"{address}{separator}{urlencode(query)}" if query else address


def _values(world: World, parameter: dict[str, Any]) -> st.SearchStrategy[str]:
    kinds = json.dumps(parameter["schema"])
    if '"enum"' in kinds or "$ref" in kinds:
        return st.just("")
    numbers = [str(value) for place in world.places.values() for value in place.ids.values() if isinstance(value, int)]
    if '"integer"' in kinds:
        return st.sampled_from(["0", "-1", *numbers])
    if '"boolean"' in kinds:
        return st.sampled_from(["true", "false"])
    return st.sampled_from(["", "zz", *MARKS.values(), "stranger", "maker", *numbers])


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(PLACES), column=st.sampled_from(["name", "tags", "id", "user", "hp.zzforeign_lr"]))
def test_a_search_of_experiments_finds_nothing_foreign(
    world: World, doors: dict[RightsMode, Any], place: str, column: str
) -> None:
    ids = world.places[place].ids
    field = {"kind": "field", "columnName": column, "operator": "notEmpty", "value": None}
    body = {
        "projectId": ids["project_id"],
        "filter": json.dumps({"filterGroup": {"kind": "group", "conjunction": "or", "children": [field]}}),
        "sort": f"{column}=asc",
    }

    answer = doors[RightsMode.ROLES].call("viewer", "POST", "/api/v1/experiments-search", body)

    assert answer.status == 200
    assert "foreign" not in shown_places(world, answer.content)
