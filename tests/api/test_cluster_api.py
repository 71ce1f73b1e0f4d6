"""Nodes, slots, pools, the queue, tasks, and the master itself."""

from typing import Any


def test_info_is_open_and_names_the_dialect(nobody: Any) -> None:
    info = nobody.get("/info")

    assert info["version"] == "0.38.1"
    assert info["cluster_id"] == "c1"
    assert info["master_id"]


def test_master_is_open_but_its_configuration_is_not(nobody: Any, api: Any) -> None:
    nobody.get("/api/v1/master/config", expect=401)

    assert nobody.get("/api/v1/master")["rbacEnabled"] is False
    assert api.get("/api/v1/master/config")["config"]["resource_manager"]["scheduler"]["type"] == "priority"


def test_agents_show_who_holds_their_slots(api: Any) -> None:
    trial = api.running()

    (agent,) = api.get("/api/v1/agents")["agents"]

    holder = agent["slots"]["0"]["container"]
    assert holder["parent"] == trial.task_id
    assert agent["containers"][holder["id"]]["state"] == "STATE_RUNNING"
    assert agent["slots"]["1"]["container"] is None
    assert agent["slotStats"]["typeStats"]["TYPE_CPU"]["total"] == 2


def test_slots_and_tasks_are_joined_by_the_container(api: Any) -> None:
    trial = api.running()

    slot = api.get("/api/v1/agents/fake/slots/0")["slot"]
    summary = api.get("/api/v1/tasks")["allocationIdToSummary"][trial.allocation_id]

    assert summary["resources"][0]["containerId"] == slot["container"]["id"]
    assert summary["name"] == f"Trial {trial.id} (Experiment {trial.experiment_id})"
    assert summary["slotsNeeded"] == 1


TWO_SLOTS = """
name: {name}
entrypoint: python3 train.py
searcher: {{name: single, metric: loss, max_length: {{batches: 10}}}}
resources: {{slots_per_trial: {slots}}}
"""


def test_who_waits_is_told_why_wherever_it_is_shown(api: Any) -> None:
    holder = api.create(TWO_SLOTS.format(name="holder", slots=2))
    waiter = api.create(TWO_SLOTS.format(name="waiter", slots=1))
    api.tick()
    told = f"Waits for 1 slot of pool default, held by experiment {holder} (holder)."

    runs, waits = (job["full"]["summary"] for job in api.get("/api/v1/job-queues-v2")["jobs"])
    details = api.get(f"/api/v1/experiments/{waiter}")
    trial = api.trial(waiter)
    task = api.get(f"/api/v1/tasks/{trial['taskId']}")["task"]
    (allocation,) = task["allocations"]
    tasks = api.get("/api/v1/tasks")["allocationIdToSummary"]

    assert (runs["waitingReason"], runs["waitingFor"]) == ("", "")
    assert (waits["waitingReason"], waits["waitingFor"]) == (told, "SLOTS")
    assert (details["experiment"]["waitingReason"], details["jobSummary"]["waitingReason"]) == (told, told)
    assert trial["waitingReason"] == told
    assert api.get(f"/api/v1/trials/{trial['id']}")["trial"]["waitingReason"] == told
    assert allocation["waitingReason"] == told
    assert api.get(f"/api/v1/allocations/{allocation['allocationId']}")["allocation"]["waitingReason"] == told
    assert tasks[allocation["allocationId"]]["waitingReason"] == told


def test_what_can_never_start_is_told_so_and_holds_nobody_up(api: Any) -> None:
    large = api.create(TWO_SLOTS.format(name="large", slots=3))
    small = api.create(TWO_SLOTS.format(name="small", slots=1))
    api.tick()

    summary = api.get(f"/api/v1/experiments/{large}")["jobSummary"]

    assert summary["waitingFor"] == "NOTHING"
    assert summary["waitingReason"].startswith("It can never start: 3 slots do not fit pool default")
    assert api.trial(small)["state"] == "STATE_RUNNING"


def test_before_the_scheduler_has_looked_that_is_the_reason(api: Any) -> None:
    experiment = api.create()

    assert api.get(f"/api/v1/experiments/{experiment}")["jobSummary"]["waitingFor"] == "SCHEDULER"


def test_a_slot_is_taken_out_of_service_by_administrators_alone(api: Any, admin: Any) -> None:
    api.post("/api/v1/agents/fake/slots/1/disable", expect=403)

    admin.post("/api/v1/agents/fake/slots/1/disable", {"drain": True})
    off = api.get("/api/v1/agents/fake/slots/1")["slot"]["enabled"]
    admin.post("/api/v1/agents/fake/slots/1/enable")

    assert off is False
    assert api.get("/api/v1/agents/fake/slots/1")["slot"]["enabled"] is True


def test_a_whole_node_is_taken_out_of_service(api: Any, admin: Any) -> None:
    answer = admin.post("/api/v1/agents/fake/disable", {"drain": True})

    assert (answer["agent"]["enabled"], answer["agent"]["draining"]) == (False, True)
    assert admin.post("/api/v1/agents/fake/enable")["agent"]["enabled"] is True


def test_unknown_agents_and_slots_are_404(api: Any) -> None:
    api.get("/api/v1/agents/nope", expect=404)
    api.get("/api/v1/agents/fake/slots/9", expect=404)


def test_pools_count_slots_and_jobs(api: Any) -> None:
    api.running()

    (pool,) = api.get("/api/v1/resource-pools")["resourcePools"]

    assert (pool["name"], pool["slotsAvailable"], pool["slotsUsed"]) == ("default", 2, 1)
    assert (pool["defaultComputePool"], pool["schedulerType"]) == (True, "SCHEDULER_TYPE_PRIORITY")
    assert pool["stats"] == {"queuedCount": 0, "scheduledCount": 1}


def test_pools_cannot_be_bound(api: Any, admin: Any) -> None:
    assert api.get("/api/v1/resource-pools/default/workspace-bindings")["workspaceIds"] == []
    admin.post("/api/v1/resource-pools/default/workspace-bindings", {}, expect=501)
    api.post("/api/v1/resource-pools/default/workspace-bindings", {}, expect=403)


def test_the_queue_is_reordered(api: Any) -> None:
    for _ in range(4):
        api.create()
        api.clock.forward(1)
    api.tick()

    def order() -> list[str]:
        return [job["full"]["jobId"] for job in api.get("/api/v1/job-queues-v2", resourcePool="default")["jobs"]]

    before = order()
    api.post("/api/v1/job-queues", {"updates": [{"jobId": before[3], "aheadOf": before[2]}]})
    after = order()
    stats = api.get("/api/v1/job-queues/stats")["results"][0]["stats"]

    assert after == [before[0], before[1], before[3], before[2]]
    assert stats == {"queuedCount": 2, "scheduledCount": 2}
    assert api.get("/api/v1/job-queues")["jobs"][0]["summary"]["state"] == "STATE_SCHEDULED"


def test_a_job_that_is_not_there_is_named(api: Any) -> None:
    sentence = api.refusal("POST", "/api/v1/job-queues", {"updates": [{"jobId": "x", "priority": 1}]}, expect=404)

    assert "x" in sentence


def test_preemption_is_told_to_the_trial_that_waits(api: Any) -> None:
    trial = api.running()
    path = f"/api/v1/allocations/{trial.allocation_id}/signals/preemption"

    before = trial.api.get(path, timeout_seconds=0)
    api.post(f"/api/v1/experiments/{trial.experiment_id}/pause")
    after = trial.api.get(path, timeoutSeconds=60)

    assert (before, after) == ({"preempt": False}, {"preempt": True})


def test_a_gang_finds_its_nodes(api: Any) -> None:
    trial = api.running()

    answer = trial.api.get(f"/api/v1/allocations/{trial.allocation_id}/resources/{trial.allocation_id}/rendezvous")

    assert answer == {"rendezvousInfo": {"addresses": ["127.0.0.1"], "rank": 0, "slots": [1]}}


def test_all_gather_of_one_answers_at_once(api: Any) -> None:
    trial = api.running()
    body = {"allocationId": trial.allocation_id, "requestUuid": "r", "numPeers": 1, "data": {"a": 1}}

    assert trial.api.post(f"/api/v1/allocations/{trial.allocation_id}/all_gather", body) == {"data": [{"a": 1}]}


def test_a_task_knows_its_allocations(api: Any) -> None:
    trial = api.running()
    trial.api.post(f"/api/v1/allocations/{trial.allocation_id}/ready")
    trial.api.post(f"/api/v1/allocations/{trial.allocation_id}/proxy_address", {"proxyAddress": "10.0.0.1"})

    task = api.get(f"/api/v1/tasks/{trial.task_id}")["task"]

    assert task["taskType"] == "TASK_TYPE_TRIAL"
    assert task["allocations"][0]["isReady"] is True
    assert task["allocations"][0]["state"] == "STATE_RUNNING"
    assert api.get(f"/api/v1/allocations/{trial.allocation_id}")["allocation"] == task["allocations"][0]


def test_the_context_of_a_task_is_the_uploaded_directory(api: Any) -> None:
    trial = api.running()

    own = trial.api.get(f"/api/v1/tasks/{trial.task_id}/context_directory")

    assert own == api.get(f"/api/v1/experiments/{trial.experiment_id}/model_def")
    assert own["b64Tgz"]


def test_slot_hours_are_added_up(api: Any) -> None:
    trial = api.running()
    api.clock.forward(3600)
    trial.exit()

    raw = api.get(
        "/api/v1/resources/allocation/raw",
        timestampAfter="2026-01-01T00:00:00Z",
        timestampBefore="2026-01-02T00:00:00Z",
    )
    days = api.get(
        "/api/v1/resources/allocation/aggregated",
        startDate="2026-01-01",
        endDate="2026-01-02",
        period="RESOURCE_ALLOCATION_AGGREGATION_PERIOD_DAILY",
    )
    table = api.get(
        "/resources/allocation/raw",
        timestamp_after="2026-01-01T00:00:00Z",
        timestamp_before="2026-01-02T00:00:00Z",
    ).text

    sums = api.get("/resources/allocation/aggregated", start_date="2026-01-01", end_date="2026-01-01").text

    (entry,) = raw["resourceEntries"]
    first, second = days["resourceEntries"]
    assert 3600 <= entry["seconds"] < 3602
    assert entry["username"] == "determined"
    assert 3600 <= first["byUsername"]["determined"] < 3602
    assert (first["periodStart"], second["seconds"]) == ("2026-01-01", 0.0)
    assert sums.splitlines()[2].startswith("username,determined,2026-01-01,36")
    assert table.splitlines()[1].startswith(f"{trial.experiment_id},experiment,determined")


def test_what_still_runs_uses_nothing_of_the_days_to_come(api: Any) -> None:
    api.running()

    days = api.get("/api/v1/resources/allocation/aggregated", startDate="2026-01-01", endDate="2026-01-03")

    assert [day["seconds"] >= 0 for day in days["resourceEntries"]] == [True, True, True]
    assert [day["byUsername"] for day in days["resourceEntries"][1:]] == [{}, {}]


def test_a_strange_date_is_a_sentence(api: Any) -> None:
    answer = api.get("/api/v1/resources/allocation/aggregated", expect=400, startDate="soon", endDate="later")

    assert "'soon' is not a date" in answer["error"]["error"]


def test_the_cluster_message_is_shown_until_it_is_over(api: Any, admin: Any) -> None:
    api.call("PUT", "/api/v1/master/cluster_message", {"message": "x"}, expect=403)
    admin.call("PUT", "/api/v1/master/cluster_message", {"message": "Down at 5", "endTime": "2026-01-01T13:00:00Z"})

    shown = api.get("/api/v1/master")["clusterMessage"]["message"]
    api.clock.forward(3601)

    assert shown == "Down at 5"
    assert api.get("/api/v1/master/cluster_message") == {"clusterMessage": None}
