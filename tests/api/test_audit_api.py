"""The audit log: who did what, when and from where; for administrators."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from resolute.engine.experiments.changes import pause_experiment

AGENT = {"User-Agent": "Mozilla/5.0 (test)"}


def audit(admin: Any, **query: Any) -> list[dict[str, Any]]:
    return list(admin.get("/api/v1/audit", **query)["entries"])


def entry(admin: Any, **query: Any) -> dict[str, Any]:
    (found,) = audit(admin, **query)
    return found


def test_an_entry_says_who_did_what_when_and_from_where(api: Any, admin: Any) -> None:
    experiment_id = api.create()
    api.clock.forward(5)
    browser = replace(api, headers={**api.headers, **AGENT})
    browser.post(f"/api/v1/experiments/{experiment_id}/pause")

    found = entry(admin, kind="experiment", action="MOVED")

    assert found["username"] == "determined"
    assert (found["thingId"], found["fromState"], found["toState"]) == (str(experiment_id), "ACTIVE", "PAUSED")
    assert (found["via"], found["address"], found["userAgent"]) == ("SESSION", "127.0.0.1", "Mozilla/5.0 (test)")
    assert found["detail"] == {"name": "digits"}
    assert found["workspaceId"] == 1
    assert datetime.fromisoformat(found["time"]) == api.clock()


def test_only_administrators_read_it(api: Any) -> None:
    assert "ADMINISTRATE_USER" in api.refusal("GET", "/api/v1/audit", expect=403)


def test_log_ins_that_work_and_that_fail_are_in_it_with_their_address(nobody: Any, admin: Any) -> None:
    wrong = {"username": "determined", "password": "a secret"}
    nobody.call("POST", "/api/v1/auth/login", wrong, expect=401, headers=AGENT)
    nobody.call("POST", "/api/v1/auth/login", {"username": "s3cret typed here", "password": "x"}, expect=401)
    ada = nobody.login("determined")
    ada.post("/api/v1/auth/logout")

    out, into, stranger, refused = audit(admin, kind="user")[:4]

    assert (into["action"], into["username"], into["address"]) == ("LOGGED_IN", "determined", "127.0.0.1")
    assert (out["action"], out["username"]) == ("LOGGED_OUT", "determined")
    assert (refused["action"], refused["thingId"], refused["userAgent"]) == ("LOGIN_FAILED", "2", AGENT["User-Agent"])
    assert (refused["username"], refused["detail"]) == ("", {"username": "determined"})
    assert (stranger["action"], stranger["thingId"], stranger["detail"]) == ("LOGIN_FAILED", "", {})


def test_an_access_token_is_told_from_a_log_in(nobody: Any, admin: Any) -> None:
    made = admin.post("/api/v1/tokens", {"description": "for the robot"})
    robot = replace(admin, headers={"Authorization": f"Bearer {made['token']}"})
    robot.post("/api/v1/workspaces", {"name": "from a robot"})

    assert entry(admin, kind="access_token")["detail"] == {"user_id": 1, "description": "for the robot"}
    assert entry(admin, kind="workspace", actor="admin")["via"] == "ACCESS_TOKEN"


def test_what_running_tasks_did_is_shown_when_it_is_asked_for(api: Any, admin: Any) -> None:
    trial = api.running()
    uuid = trial.checkpoint(3)

    assert audit(admin, kind="checkpoint") == []
    by_task = entry(admin, kind="checkpoint", everybody=True)

    assert (by_task["thingId"], by_task["via"], by_task["username"]) == (uuid, "TASK", "determined")


def test_it_is_filtered_by_actor_thing_and_time(api: Any, admin: Any) -> None:
    first = api.create()
    api.clock.forward(60)
    middle = api.clock()
    second = api.create()
    admin.post("/api/v1/workspaces", {"name": "lab"})

    def things(**query: Any) -> list[tuple[str, str]]:
        return [(each["kind"], each["thingId"]) for each in audit(admin, **query) if each["kind"] != "user"]

    assert {kind for kind, _ in things(actor="admin")} == {"workspace"}
    assert things(kind="experiment", thingId=first) == [("experiment", str(first))]
    assert things(kind="experiment", since=middle.isoformat()) == [("experiment", str(second))]
    assert things(kind="experiment", until=middle.isoformat()) == [("experiment", str(first))]
    assert things(kind=["experiment", "workspace"], since=middle.replace(tzinfo=None).isoformat()) == [
        ("workspace", "2"),
        ("experiment", str(second)),
    ]


def test_pages_follow_each_other_without_gap_while_more_is_done(api: Any, admin: Any) -> None:
    for number in range(5):
        admin.post("/api/v1/workspaces", {"name": f"lab {number}"})

    newest = admin.get("/api/v1/audit", kind="workspace", actor="admin", limit=2)
    admin.post("/api/v1/workspaces", {"name": "late"})
    older = admin.get("/api/v1/audit", kind="workspace", actor="admin", limit=2, before=newest["next"])
    oldest = admin.get("/api/v1/audit", kind="workspace", actor="admin", limit=2, before=older["next"])

    pages = [[each["detail"]["name"] for each in page["entries"]] for page in (newest, older, oldest)]
    assert pages == [["lab 4", "lab 3"], ["lab 2", "lab 1"], ["lab 0"]]
    assert oldest["next"] is None


@pytest.mark.parametrize(
    "query",
    [{"limit": 0}, {"limit": 1001}, {"action": "LOOKED"}, {"since": "yesterday"}, {"before": 2**63}],
    ids=lambda query: next(iter(query)),
)
def test_a_question_that_makes_no_sense_is_refused(admin: Any, query: dict[str, Any]) -> None:
    admin.get("/api/v1/audit", expect=400, **query)


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00", "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+14:00"])
def test_any_moment_may_be_asked_for(admin: Any, moment: str) -> None:
    admin.get("/api/v1/audit", since=moment)
    admin.get("/api/v1/audit", until=moment)


def test_what_a_program_calls_itself_cannot_damage_a_terminal(nobody: Any, admin: Any) -> None:
    wrong = {"username": "determined", "password": "x"}
    agent = b"a\x1b[2J\x07b\xff" + b"c" * 500
    nobody.client.post("/api/v1/auth/login", json=wrong, headers={b"User-Agent": agent})

    shown = entry(admin, action="LOGIN_FAILED")["userAgent"]

    assert shown.startswith("a[2Jb")
    assert len(shown) <= 200


def test_changes_of_the_cluster_itself_are_in_it(admin: Any) -> None:
    admin.call("PUT", "/api/v1/master/cluster_message", {"message": "down at noon"})
    admin.call("DELETE", "/api/v1/master/cluster_message")
    node = admin.get("/api/v1/agents")["agents"][0]["id"]
    admin.post(f"/api/v1/agents/{node}/disable", {"drain": True})
    admin.post(f"/api/v1/agents/{node}/slots/0/disable", {})

    slot, agent, removed, message = audit(admin, actor="admin")[:4]

    assert (message["kind"], message["thingId"], message["detail"]) == (
        "setting",
        "cluster_message",
        {"message": "down at noon"},
    )
    assert (removed["thingId"], removed["action"]) == ("cluster_message", "DELETED")
    assert (agent["kind"], agent["thingId"], agent["detail"]) == ("agent", node, {"enabled": False, "drain": True})
    assert (slot["thingId"], slot["detail"]) == (node, {"enabled": False, "drain": False, "slot": 0})


def test_metadata_that_a_person_writes_into_a_checkpoint_is_in_it_by_name(api: Any, admin: Any) -> None:
    uuid = api.running().checkpoint(1)
    body = {"checkpoint": {"uuid": uuid, "metadata": {"steps_completed": 1, "note": "keep"}}}
    api.post(f"/api/v1/checkpoints/{uuid}/metadata", body)

    found = entry(admin, kind="checkpoint", thingId=uuid)

    assert (found["action"], found["username"], found["detail"]["also"]) == ("CHANGED", "determined", ["metadata"])


def test_the_platform_itself_stays_nobody(api: Any, admin: Any) -> None:
    experiment_id = api.create()
    pause_experiment(api.platform, experiment_id)

    assert audit(admin, kind="experiment", action="MOVED") == []
