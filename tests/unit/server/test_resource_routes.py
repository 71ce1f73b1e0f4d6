"""Routes that are analysed at their first request: what they answer, and what they cost before."""

import subprocess
import sys
import threading
from typing import Annotated

import pytest
from fastapi import Depends, FastAPI, Query
from fastapi.testclient import TestClient

from resolute.domain.errors import Unauthenticated
from resolute.domain.needs import DELETE_EXPERIMENT, PUBLIC, VIEW_EXPERIMENT
from resolute.server.errors import add_error_handlers
from resolute.server.resource import LazyRoute, Resource, operation_id
from resolute.spec.wire.base import Request, Wire


class Ship(Request):
    name: str
    hull_length: float = 0.0


class Fleet(Wire):
    ships: list[Ship]


def a_resource() -> Resource:
    ships = Resource(prefix="/ships", tags=["ships"])

    @ships.get("", needs=PUBLIC)
    def get_ships(longest: Annotated[int, Query(alias="atMost")] = 2) -> Fleet:
        return Fleet(ships=[Ship(name="Argo", hull_length=float(longest))])

    @ships.post("", needs=PUBLIC, status_code=201)
    def post_ship(body: Ship) -> Ship:
        return body

    @ships.put("/{name}", needs=PUBLIC)
    def put_ship(name: str) -> str:
        return f"put {name}"

    @ships.patch("/{name}", needs=PUBLIC)
    def patch_ship(name: str) -> str:
        return f"patched {name}"

    @ships.delete("/{name}", needs=PUBLIC, operation_id="SinkShip")
    def delete_ship(name: str) -> str:
        return f"sunk {name}"

    @ships.route("/{name}/log", ["GET", "HEAD"], needs=PUBLIC, include_in_schema=False)
    def get_log(name: str) -> str:
        return f"log of {name}"

    return ships


@pytest.fixture
def app() -> FastAPI:
    found = FastAPI(openapi_url=None, generate_unique_id_function=operation_id)
    a_resource().add_to(found)
    return found


def lazy(app: FastAPI) -> dict[str, LazyRoute]:
    return {route.name: route for route in app.routes if isinstance(route, LazyRoute)}


def is_whole(route: LazyRoute) -> bool:
    return "dependant" in vars(route)


def test_nothing_is_analysed_before_a_request(app: FastAPI) -> None:
    assert len(lazy(app)) == 6
    assert not any(is_whole(route) for route in lazy(app).values())


def test_patterns_are_made_for_paths_that_begin_alike_only(app: FastAPI) -> None:
    TestClient(app).get("/ships")
    TestClient(app).get("/boats/Argo")

    assert [name for name, route in lazy(app).items() if "path_regex" in vars(route)] == ["get_ships"]


def test_paths_that_nobody_declared_are_not_found(app: FastAPI) -> None:
    client = TestClient(app)

    assert {client.get(path).status_code for path in ("/", "/shi", "/ships/a/b", "/ships/Argo/log/1")} == {404}


def test_a_request_completes_the_route_it_meets_and_no_other(app: FastAPI) -> None:
    answer = TestClient(app).get("/ships", params={"atMost": 7})

    assert answer.json() == {"ships": [{"name": "Argo", "hullLength": 7.0}]}
    assert [name for name, route in lazy(app).items() if is_whole(route)] == ["get_ships"]


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("PUT", "/ships/Argo", "put Argo"),
        ("PATCH", "/ships/Argo", "patched Argo"),
        ("DELETE", "/ships/Argo", "sunk Argo"),
        ("GET", "/ships/Argo/log", "log of Argo"),
    ],
)
def test_every_verb_is_answered(app: FastAPI, method: str, path: str, expected: str) -> None:
    assert TestClient(app).request(method, path).json() == expected


def test_bodies_are_checked_and_statuses_kept(app: FastAPI) -> None:
    client = TestClient(app)

    made = client.post("/ships", json={"name": "Argo", "hullLength": 30})
    refused = client.post("/ships", json={"hullLength": "long"})

    assert (made.status_code, made.json()) == (201, {"name": "Argo", "hullLength": 30.0})
    assert refused.status_code == 422
    assert {tuple(problem["loc"]) for problem in refused.json()["detail"]} == {("body", "name"), ("body", "hullLength")}


def test_a_verb_that_a_path_does_not_know_is_refused_without_analysis(app: FastAPI) -> None:
    answer = TestClient(app).post("/ships/Argo/log")

    assert answer.status_code == 405
    assert answer.headers["allow"] in ("GET, HEAD", "HEAD, GET")


def test_what_the_app_depends_on_holds_for_every_route() -> None:
    def refuse() -> None:
        raise Unauthenticated("Log in first.")

    guarded = FastAPI(openapi_url=None, dependencies=[Depends(refuse)])
    add_error_handlers(guarded)
    a_resource().add_to(guarded)
    client = TestClient(guarded)

    statuses = {client.request(*call).status_code for call in (("GET", "/ships"), ("DELETE", "/ships/Argo"))}

    assert statuses == {401}


def test_operations_are_named_after_their_functions_unless_named_themselves(app: FastAPI) -> None:
    names = {name: route.unique_id for name, route in lazy(app).items()}

    assert names["get_ships"] == "GetShips"
    assert names["delete_ship"] == "SinkShip"


def test_tags_and_visibility_reach_the_schema(app: FastAPI) -> None:
    document = app.openapi()

    assert document["paths"]["/ships"]["get"]["tags"] == ["ships"]
    assert "/ships/{name}/log" not in document["paths"]


def test_an_attribute_that_no_route_has_is_missed_by_name(app: FastAPI) -> None:
    with pytest.raises(AttributeError, match="/ships has no 'colour'"):
        _ = lazy(app)["get_ships"].colour


def test_threads_that_ask_at_once_see_one_whole_route(app: FastAPI) -> None:
    route = lazy(app)["post_ship"]
    seen: list[object] = []
    gate = threading.Barrier(4)

    def ask() -> None:
        gate.wait()
        seen.append(route.dependant)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == [route.dependant] * 4


def test_the_server_starts_without_what_only_some_requests_need() -> None:
    """Each of these takes longer to import than a request takes to answer."""
    heavy = (
        "httpx",
        "alembic",
        "sqlalchemy.orm",
        "sqlalchemy.dialects.postgresql",
        "torch",
        "optuna",
        "rasterio",
        "rich",
    )
    code = f"import sys, resolute.server.main; print([name for name in {heavy} if name in sys.modules])"

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert answer.stdout.strip() == "[]"


# ----------------------------------------------------------------------------------------------------------- needs


def test_a_route_that_does_not_say_what_it_needs_does_not_import() -> None:
    with pytest.raises(TypeError, match="needs"):
        Resource().get("/ships")  # type: ignore[call-arg]


def test_a_need_is_one_of_the_vocabulary() -> None:
    with pytest.raises(
        AssertionError, match=r"/ships: needs='admin' is none of domain.needs. Say what the route needs"
    ):
        Resource().get("/ships", needs="admin")  # type: ignore[arg-type]


def test_a_right_in_a_workspace_needs_a_path_that_says_which() -> None:
    with pytest.raises(AssertionError, match=r"names nothing in one. Declare the need as `.listed` or `.in_body`"):
        Resource().get("/experiments", needs=VIEW_EXPERIMENT)

    Resource().get("/experiments", needs=VIEW_EXPERIMENT.listed)
    Resource().delete("/experiments", needs=DELETE_EXPERIMENT.in_body)


def test_a_parameter_that_nobody_knows_the_workspace_of_does_not_import() -> None:
    with pytest.raises(AssertionError, match=r"nobody knows which workspace {ship_id} is in"):
        Resource().get("/trials/{trial_id}/ships/{ship_id}", needs=VIEW_EXPERIMENT)
