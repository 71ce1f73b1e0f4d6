"""Trials, checkpoints, people, places, the cluster, and searches."""

from pathlib import Path
from typing import Any

import pytest

from resolute.cli.output import cell, moment, size
from resolute.client.fake import FakeMaster
from resolute.client.identity import hashed


class TestTrial:
    def test_describing_shows_facts_and_summaries(self, resolute: Any, master: FakeMaster) -> None:
        summary = {"validation_metrics": {"loss": {"count": 3, "min": 0.1, "max": 0.9, "last": 0.2}}}
        master.add_trial(1, summaryMetrics=summary)

        assert "RUNNING" in resolute("t", "describe", "1").out
        assert "0.9" in resolute("t", "describe", "1", "--metrics-summary").out
        assert resolute("t", "describe", "1", "--json").json["workloads"] == []

    def test_logs_filter(self, resolute: Any, master: FakeMaster) -> None:
        master.add_trial(1)
        master.logs[1] = ["one", "two"]

        outcome = resolute("t", "logs", "1", "--head", "1", "--level", "warning", "--rank-id", "0", "--rank-id", "1")

        assert outcome.out == "one\n"
        assert master.calls[-1].query["rankIds"] == ["0", "1"]
        assert master.calls[-1].query["levels"][0] == "LOG_LEVEL_WARNING"

    def test_killing(self, resolute: Any, master: FakeMaster) -> None:
        master.add_trial(1)

        assert resolute("t", "kill", "1").out == "Killed trial 1\n"
        assert "/api/v1/trials/1/kill" in master.paths("POST")

    @pytest.mark.parametrize("which", [("--best",), ("--latest",), ("--uuid", "only")])
    def test_downloading_one_checkpoint(self, resolute: Any, master: FakeMaster, which: tuple[str, ...]) -> None:
        master.add_checkpoint("only", metric=0.1, files={"w": b"1"})

        assert resolute("t", "download", "1", *which, "-q").out == "checkpoints/only\n"

    def test_downloading_needs_one_choice(self, resolute: Any, master: FakeMaster) -> None:
        master.add_trial(1)

        assert "one of --best, --latest or --uuid" in resolute("t", "download", "1").err
        assert "has no validated checkpoint yet" in resolute("t", "download", "1", "--best").err


class TestCheckpoint:
    def test_describing_lists_the_files(self, resolute: Any, master: FakeMaster) -> None:
        master.add_checkpoint("c", metric=0.5, files={"w.pt": b"12345"})

        outcome = resolute("c", "describe", "c")

        assert "w.pt  5 B" in outcome.out
        assert resolute("c", "describe", "c", "--json").json["uuid"] == "c"

    def test_downloading_to_a_place(self, resolute: Any, master: FakeMaster, tmp_path: Path) -> None:
        master.add_checkpoint("c", files={"w.pt": b"12345"})

        outcome = resolute("c", "download", "c", "-o", "here", "--mode", "master")

        assert outcome.out == "Downloaded checkpoint c to here\n"
        assert (tmp_path / "here" / "w.pt").exists()

    def test_deleting_several_and_removing_files(self, resolute: Any, master: FakeMaster) -> None:
        master.add_checkpoint("c")

        resolute("c", "delete", "a, b", "--yes")
        resolute("c", "rm", "c", "--glob", "*.pt", "--yes")

        assert master.last("DELETE", "/api/v1/checkpoints").body == {"checkpointUuids": ["a", "b"]}
        assert master.last("POST", "/api/v1/checkpoints/rm").body["checkpointGlobs"] == ["*.pt"]


class TestUser:
    def test_logging_in_and_out(self, resolute: Any, master: FakeMaster) -> None:
        master.passwords["ada"] = hashed("Secret123")

        assert resolute("u", "login", "ada", "--password", "Secret123").out.endswith("as ada\n")
        assert "as ada" in resolute("u", "whoami").out
        assert resolute("u", "logout").out == "Logged out ada from http://fake:8080\n"
        assert "as determined" in resolute("u", "whoami").out

    def test_a_weak_password_is_refused_here(self, resolute: Any, master: FakeMaster) -> None:
        outcome = resolute("u", "create", "ada", "--password", "short")

        assert "8 characters or more" in outcome.err
        assert master.calls == []

    def test_creating_changing_and_listing(self, resolute: Any, master: FakeMaster) -> None:
        master.lists["users"] = [{"id": 1, "username": "admin", "active": True, "admin": True}]

        assert resolute("u", "create", "ada", "--admin", "--password", "Secret123").out == "Created user ada\n"
        assert resolute("u", "edit", "admin", "--no-active", "--display-name", "A").code == 0
        assert master.last("PATCH", "/api/v1/users/7").body == {"displayName": "A", "active": False}
        assert "Nothing to change" in resolute("u", "edit", "admin").err
        assert "admin" in resolute("u", "list").out

    def test_renaming_activating_and_passwords(self, resolute: Any, master: FakeMaster) -> None:
        resolute("u", "rename", "admin", "root")
        assert master.last("PATCH", "/api/v1/users/7").body == {"username": "root"}
        resolute("u", "deactivate", "admin")
        assert master.last("PATCH", "/api/v1/users/7").body == {"active": False}
        resolute("u", "activate", "admin")
        assert master.last("PATCH", "/api/v1/users/7").body == {"active": True}
        resolute("u", "change-password", "admin", "--password", "Another123")
        assert master.last("PATCH", "/api/v1/users/7").body["password"] == hashed("Another123")

    def test_linking_with_an_account_of_the_machine_and_taking_it_back(self, resolute: Any, master: FakeMaster) -> None:
        account = ("--agent-uid", "4001", "--agent-gid", "4002", "--agent-user", "ada", "--agent-group", "lab")
        assert resolute("u", "link-with-agent-user", "admin", *account).out == "Work of admin runs as uid 4001\n"
        given = {"agentUid": 4001, "agentGid": 4002, "agentUser": "ada", "agentGroup": "lab"}
        assert master.last("PATCH", "/api/v1/users/7").body == {"agentUserGroup": given}
        resolute("u", "unlink-agent-user", "admin")
        assert master.last("PATCH", "/api/v1/users/7").body == {"agentUserGroup": {}}


class TestPlaces:
    @pytest.fixture(autouse=True)
    def places(self, master: FakeMaster) -> None:
        master.lists = {
            "workspaces": [{"id": 2, "name": "Vision", "username": "admin", "numProjects": 1}],
            "projects": [{"id": 5, "name": "tanks", "description": "d"}],
            "templates": [{"name": "base", "config": {"max_restarts": 1}, "workspaceId": 1}],
        }

    def test_workspaces(self, resolute: Any, master: FakeMaster) -> None:
        assert "Vision" in resolute("w", "list").out
        assert "tanks" in resolute("w", "list-projects", "Vision").out
        assert "Vision" in resolute("w", "describe", "Vision").out
        assert resolute("w", "create", "New").out == "Created workspace New\n"
        assert resolute("w", "edit", "Vision", "--name", "Sight").code == 0
        assert resolute("w", "archive", "Vision").code == 0
        assert resolute("w", "unarchive", "Vision").code == 0
        assert resolute("w", "delete", "Vision", "--yes").code == 0
        assert "does not exist" in resolute("w", "describe", "Nope").err

    def test_projects(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1, name="in it")

        assert "tanks" in resolute("p", "list", "Vision").out
        assert "in it" in resolute("p", "list-experiments", "Vision", "tanks").out
        assert resolute("p", "describe", "Vision", "tanks", "--json").json["id"] == 5
        assert resolute("p", "create", "Vision", "ships", "--description", "x").code == 0
        assert resolute("p", "edit", "Vision", "tanks", "--description", "y").code == 0
        assert "Nothing to change" in resolute("p", "edit", "Vision", "tanks").err
        assert resolute("p", "archive", "Vision", "tanks").code == 0
        assert resolute("p", "unarchive", "Vision", "tanks").code == 0
        assert resolute("p", "delete", "Vision", "tanks", "--yes").code == 0

    def test_templates(self, resolute: Any, master: FakeMaster, tmp_path: Path) -> None:
        (tmp_path / "t.yaml").write_text("max_restarts: 2\n")

        assert "base" in resolute("tpl", "list").out
        assert resolute("tpl", "describe", "base").out == "max_restarts: 1\n"
        assert resolute("tpl", "create", "new", "t.yaml", "-w", "Vision").code == 0
        assert master.last("POST", "/api/v1/templates/new").body["workspaceId"] == 2
        assert resolute("tpl", "set", "base", "t.yaml").code == 0
        assert master.last("PUT", "/api/v1/templates/base").body["config"] == {"max_restarts": 2}
        assert resolute("tpl", "rename", "base", "ground").code == 0
        assert resolute("tpl", "rm", "base").out == "Removed template base\n"


class TestCluster:
    @pytest.fixture(autouse=True)
    def cluster(self, master: FakeMaster) -> None:
        device = {"type": "TYPE_CUDA", "brand": "H200"}
        busy = {"id": "0", "device": device, "enabled": True, "container": {"parent": "1.x.1"}}
        master.lists = {
            "agents": [{"id": "node-1", "slots": {"0": busy, "1": {"id": "1", "device": device, "enabled": False}}}],
            "resourcePools": [{"name": "gpu", "defaultComputePool": True, "schedulerType": "SCHEDULER_TYPE_PRIORITY"}],
            "jobs": [{"full": {"jobId": "j1", "name": "demo", "type": "TYPE_EXPERIMENT", "progress": 0.5}}],
            "tasks": [
                {
                    "allocationId": "1.x.1",
                    "taskId": "1.x",
                    "name": "trial 1",
                    "slotsNeeded": 1,
                    "nodes": [
                        {"rank": 0, "nodeId": "node-1", "phase": "PULLING", "slotIds": [0, 1]},
                        {"rank": 1, "nodeId": "node-2", "phase": "ENDED", "exitCode": 137, "reason": "killed"},
                    ],
                }
            ],
        }

    def test_nodes_and_slots(self, resolute: Any, master: FakeMaster) -> None:
        assert "node-1" in resolute("a", "list").out
        slots = resolute("s", "list").out
        assert "trial 1" in slots
        assert "free" in slots
        assert "H200" in slots
        assert resolute("s", "disable", "node-1", "0").out == "Disabled slot 0 of agent node-1\n"
        assert resolute("s", "enable", "node-1", "0").code == 0

    def test_draining_one_node_or_all(self, resolute: Any, master: FakeMaster) -> None:
        assert resolute("a", "disable", "node-1", "--drain").out == "Draining agent node-1\n"
        assert resolute("a", "enable", "--all").out == "Enabled agent node-1\n"
        assert "or give --all" in resolute("a", "enable").err

    def test_the_queue(self, resolute: Any, master: FakeMaster) -> None:
        assert "50 %" in resolute("j", "list").out
        assert resolute("j", "update", "j1", "--priority", "3").out == "Updated job j1\n"
        assert master.calls[-1].body == {"updates": [{"jobId": "j1", "priority": 3}]}
        assert resolute("j", "u", "j1", "--ahead-of", "j2").code == 0
        assert "exactly one of" in resolute("j", "update", "j1").err
        assert "out of range" in resolute("j", "update", "j1", "-p", "0").err

    def test_the_queue_says_below_the_table_why_a_job_waits(self, resolute: Any, master: FakeMaster) -> None:
        waits = {"state": "STATE_QUEUED", "waitingReason": "Waits for 2 slots."}
        job = {"jobId": "j2", "entityId": "7", "name": "late", "kind": "EXPERIMENT", "summary": waits}
        master.lists["jobs"].append({"full": job})

        assert resolute("j", "list").out.endswith("\n\nexperiment 7 (late): Waits for 2 slots.\n")
        assert resolute("j", "list", "--json").out.count("Waits for 2 slots.") == 1

    def test_pools_tasks_and_the_master(self, resolute: Any, master: FakeMaster) -> None:
        master.logs[3] = ["a line"]

        assert "priority" in resolute("rp", "list").out
        assert "trial 1" in resolute("task", "list").out
        assert resolute("task", "logs", "3").out == "a line\n"
        assert "fake" in resolute("master", "info").out
        assert "scheduler" in resolute("master", "config").out
        described = resolute("task", "describe", "1.x").out
        assert "PULLING" in described
        assert "137 killed" in described
        assert "INFO: master is ready" in resolute("master", "logs", "--tail", "3").out

    @pytest.mark.parametrize(
        "arguments",
        [("a", "list"), ("s", "list"), ("j", "list"), ("rp", "list"), ("task", "list"), ("master", "info")],
    )
    def test_every_list_speaks_json(self, resolute: Any, arguments: tuple[str, ...]) -> None:
        assert resolute(*arguments, "--json").json


class TestSearch:
    SEARCH = (
        "name: s\nentrypoint: python3 t.py\nhyperparameters: {lr: {type: double, minval: 0.1, maxval: 1.0}}\n"
        "searcher: {name: random, metric: loss, max_trials: 4, max_length: {batches: 100}}\n"
    )

    def test_simulating_needs_no_master(self, resolute: Any, master: FakeMaster, tmp_path: Path) -> None:
        (tmp_path / "s.yaml").write_text(self.SEARCH)

        outcome = resolute("search", "simulate", "s.yaml", "--config", "searcher.max_trials=3")

        assert outcome.out.startswith("3 trials, 300 batches")
        assert master.calls == []
        assert len(resolute("search", "simulate", "s.yaml", "--json").json["trials"]) == 4

    def test_a_faulty_search_is_refused_with_its_place(self, resolute: Any, tmp_path: Path) -> None:
        (tmp_path / "s.yaml").write_text(self.SEARCH.replace("random", "randum"))

        outcome = resolute("search", "simulate", "s.yaml")

        assert outcome.code == 1
        assert "s.yaml:4" in outcome.err

    def test_the_masters_preview(self, resolute: Any, tmp_path: Path) -> None:
        (tmp_path / "s.yaml").write_text(self.SEARCH)

        assert "100 batches" in resolute("preview-search", "s.yaml").out


class TestPrinting:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, "-"),
            ("", "-"),
            (True, "yes"),
            (0.1 + 0.2, "0.3"),
            ([], "-"),
            (["a", 1], "a, 1"),
            ({"a": 1}, '{"a": 1}'),
            (0, "0"),
        ],
    )
    def test_cells_read_well(self, value: Any, text: str) -> None:
        assert cell(value) == text

    def test_sizes_and_times(self) -> None:
        assert [size(n) for n in (0, "1023", 1024, 5 * 1024**3, 2**50)] == [
            "0 B",
            "1023 B",
            "1.0 KiB",
            "5.0 GiB",
            "1024.0 TiB",
        ]
        assert moment(None) is None
        assert len(moment("2026-01-01T12:00:00Z") or "") == 19
