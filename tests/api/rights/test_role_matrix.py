"""Every route x every role x own, foreign and archived workspaces, in both modes, held to `routes.md`."""

from typing import Any

import pytest
from tests.api.rights.calls import call_of, is_about_place
from tests.api.rights.table import ROWS, Row
from tests.api.rights.traces import shown_places
from tests.api.rights.world import OWNERS, PLACES, ROLES, Place, World

from resolute.domain.rights import RightsMode

CALLERS = tuple(name for name in ROLES if name != "bystander")
_LADDER = ("nobody", "model-registry-viewer", "viewer", "editor-restricted", "editor", "workspace-admin")
"""Each may what those before it may."""


# ------------------------------------------------------------------------------------------------ what is expected


def expected(row: Row, caller: str, place: str, mode: RightsMode) -> frozenset[int]:
    if row.roles == "open":
        return row.answers
    if caller == "anonymous":
        return frozenset({401})
    if row.roles == "task":
        return frozenset({403})
    status = _in_basic(row, caller, place) if mode is RightsMode.BASIC else _in_roles(row, caller, place)
    if status:
        return frozenset({status})
    is_shut = place == "archived" and row.is_refused_when_archived
    return frozenset({400}) if is_shut else row.answers


def _in_basic(row: Row, caller: str, place: str) -> int:
    """0: he may."""
    if row.is_listed or row.basic == "user" or caller == "cluster-admin":
        return 0
    if row.basic.endswith("hidden"):
        return 404
    return 0 if row.basic == "owner" and caller == OWNERS[place] else 403


def _in_roles(row: Row, caller: str, place: str) -> int:
    if row.is_listed or row.roles == "signed-in" or caller == "cluster-admin":
        return 0
    if not is_about_place(row.method, row.path):
        return 404 if row.roles.endswith("hidden") else 403
    if not holds(caller, place, row.seen_with):
        return 404
    return 0 if may(row, caller, place) else 403


def may(row: Row, caller: str, place: str) -> bool:
    everybody, _, owners = row.roles.partition(",")[0].partition(" / ")
    if holds(caller, place, everybody):
        return True
    return bool(owners) and caller == OWNERS[place] and holds(caller, place, owners)


def holds(caller: str, place: str, role: str) -> bool:
    if caller == "cluster-admin":
        return True
    if place == "foreign" or role not in _LADDER:
        return False
    own = "editor-restricted" if caller == "maker" else caller
    return own in _LADDER and _LADDER.index(own) >= _LADDER.index(role)


# --------------------------------------------------------------------------------------------------------- the walk

CASES = [
    *((RightsMode.ROLES, caller) for caller in ("anonymous", *CALLERS)),
    *((RightsMode.BASIC, caller) for caller in ("anonymous", "nobody", "maker", "cluster-admin")),
]


@pytest.mark.parametrize(("mode", "caller"), CASES, ids=lambda each: str(each))
def test_every_route_answers_every_role_as_the_table_says(
    world: World, doors: dict[RightsMode, Any], mode: RightsMode, caller: str
) -> None:
    wrong = []
    for row in ROWS:
        if row.method == "WEBSOCKET":  # tests/api/proxy opens them
            continue
        for place in PLACES if is_about_place(row.method, row.path) else PLACES[:1]:
            problem = _try(world, doors[mode], row, caller, world.places[place], mode)
            if problem:
                wrong.append(f"{row.method} {row.path} [{place}]: {problem}")

    assert wrong == [], "\n" + "\n".join(wrong)


def _try(world: World, door: Any, row: Row, caller: str, place: Place, mode: RightsMode) -> str:
    """What is wrong; empty: nothing."""
    address, body = call_of(world, place, row.method, row.path)
    answer = door.call(caller, row.method, address, body)
    wanted = expected(row, caller, place.name, mode)
    if row.method != "GET" and answer.status not in (401, 403, 404):
        world.restore()
    if answer.status not in wanted:
        return f"{answer.status} instead of {sorted(wanted)}: {answer.content[:200]!r}"
    if mode is RightsMode.ROLES and answer.status < 300:
        shown = [other for other in shown_places(world, answer.content) if not holds(caller, other, row.shows_with)]
        if shown:
            return f"shows what is in {shown}: {answer.content[:2000]!r}"
    if row.roles.endswith("each") and answer.status == 200:
        return _wrong_deeds(row, answer.json["results"], caller, place, mode)
    return ""


def _wrong_deeds(row: Row, results: list[dict[str, Any]], caller: str, place: Place, mode: RightsMode) -> str:
    is_refused = any(result["error"] for result in results)
    is_wanted = not may(row, caller, place.name) if mode is RightsMode.ROLES else _is_others(row, caller, place)
    return "" if results and is_refused is is_wanted else f"{results} instead of {'a refusal' if is_wanted else 'none'}"


def _is_others(row: Row, caller: str, place: Place) -> bool:
    return row.basic == "owner" and caller not in ("cluster-admin", OWNERS[place.name])
