"""`resolute experiment ...`, as a user types it."""

from pathlib import Path
from typing import Any

import pytest

from resolute.client.fake import FakeMaster
from resolute.spec.document import read_document

CREATE = "/api/v1/experiments"


class TestCreate:
    def test_it_says_which_experiment_and_where_to_look(self, resolute: Any, master: FakeMaster, config: str) -> None:
        outcome = resolute("e", "create", config, "model")

        sent = master.last("POST", CREATE).body
        assert outcome.out == "Created experiment 1\nhttp://fake:8080/det/experiments/1\n"
        assert "# why" in sent["config"]
        assert [f["path"] for f in sent["modelDefinition"]] == ["train.py"]

    def test_overrides_template_project_and_includes_travel(
        self, resolute: Any, master: FakeMaster, config: str, tmp_path: Path
    ) -> None:
        (tmp_path / "extra.py").write_text("")
        options = ["--config", "searcher.name=grid", "--template", "base", "--project_id", "7", "-i", "extra.py"]

        resolute("e", "create", config, "model", "--paused", *options)

        sent = master.last("POST", CREATE).body
        assert read_document(sent["config"]).value["searcher"] == {"name": "grid"}
        assert (sent["template"], sent["projectId"], sent["activate"]) == ("base", 7, False)
        assert [f["path"] for f in sent["modelDefinition"]] == ["train.py", "extra.py"]

    def test_validating_creates_nothing(self, resolute: Any, master: FakeMaster, config: str) -> None:
        outcome = resolute("e", "create", config, "model", "--validate-only")

        assert outcome.out == "config.yaml is valid.\n"
        assert master.experiments == {}

    def test_a_dry_run_prints_the_request_and_creates_nothing(
        self, resolute: Any, master: FakeMaster, config: str
    ) -> None:
        outcome = resolute("e", "create", config, "model", "--dry-run", "--config", "name=other")

        assert outcome.out == "entrypoint: python3 train.py\nslots: 1\n"
        assert outcome.err == "Warning: a warning\n"
        assert resolute("e", "create", config, "model", "--dry-run", "--json").json["slots"] == 1
        assert master.experiments == {}
        sent = master.last("POST", f"{CREATE}/dry-run").body
        assert [file["path"] for file in sent["modelDefinition"]] == ["train.py"]

    def test_following_prints_the_first_trials_log(self, resolute: Any, master: FakeMaster, config: str) -> None:
        master.add_trial(5, experiment_id=1)
        master.logs[5] = ["hello", "world"]

        outcome = resolute("e", "create", config, "model", "-f")

        assert outcome.out.endswith("hello\nworld\n")
        assert "Following trial 5" in outcome.err

    def test_following_what_is_paused_is_refused(self, resolute: Any, master: FakeMaster, config: str) -> None:
        outcome = resolute("e", "create", config, "model", "-f", "--paused")

        assert outcome.code == 1
        assert "Give one of them" in outcome.err
        assert master.calls == []

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (("missing.yaml", "model"), "missing.yaml cannot be read: No such file"),
            (("config.yaml", "nowhere"), "nowhere cannot be read: No such file"),
            (("config.yaml", "model", "--config", "oops"), "is not key=value"),
        ],
    )
    def test_faults_are_found_before_anything_is_sent(
        self, resolute: Any, master: FakeMaster, config: str, arguments: tuple[str, ...], sentence: str
    ) -> None:
        outcome = resolute("e", "create", *arguments)

        assert outcome.code == 1
        assert sentence in outcome.err
        assert master.calls == []

    def test_as_json_it_is_the_experiment(self, resolute: Any, config: str) -> None:
        assert resolute("e", "create", config, "model", "--json").json["id"] == 1


class TestLooking:
    def test_the_list_has_my_unarchived_experiments(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1, name="mine")
        master.add_experiment(2, name="old", archived=True)
        master.add_experiment(3, name="theirs", username="admin")

        mine, everything = resolute("e", "ls").out, resolute("e", "list", "-a").out

        assert "mine" in mine
        assert "old" not in mine
        assert "theirs" not in mine
        assert all(name in everything for name in ("mine", "old", "theirs"))

    def test_columns_line_up_when_piped(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1, name="x" * 120)

        header, row = resolute("e", "list").out.splitlines()

        assert "x" * 120 in row
        assert header.index("State") == row.index("ACTIVE")

    def test_json_is_the_apis_own(self, resolute: Any, master: FakeMaster) -> None:
        experiment = master.add_experiment(1)

        assert resolute("e", "list", "--json").json == [experiment]

    def test_describing_shows_the_trials(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1, name="demo")
        master.add_trial(4, searcherMetricValue=0.25)

        outcome = resolute("e", "describe", "1")

        assert "demo" in outcome.out
        assert '{"lr": 0.1}' in outcome.out
        assert "0.25" in outcome.out
        assert [t["id"] for t in resolute("e", "describe", "1", "--json").json[0]["trials"]] == [4]

    def test_several_can_be_described_and_nonsense_cannot(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1)
        master.add_experiment(2)

        assert len(resolute("e", "describe", "1,2", "--json").json) == 2
        assert "Write them like 3 or 3,4,5" in resolute("e", "describe", "one").err

    def test_trials_and_checkpoints_are_listed_under_both_names(self, resolute: Any, master: FakeMaster) -> None:
        for uuid, metric in (("worse", 0.9), ("better", 0.1)):
            master.add_checkpoint(uuid, metric=metric, files={"w": b"123"})

        trials, best = resolute("e", "lt", "1"), resolute("e", "lc", "1", "--best", "1")

        assert trials.out == resolute("e", "list-trials", "1").out
        assert "better" in best.out
        assert "worse" not in best.out
        assert "3 B" in best.out

    def test_logs_are_printed_as_they_are(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1)
        master.add_trial(1)
        master.logs[1] = ["a [b] c", "d"]

        assert resolute("e", "logs", "1").out == "a [b] c\nd\n"
        assert resolute("e", "logs", "1", "--tail", "1").out == "d\n"

    def test_an_experiment_without_trials_has_no_logs_and_says_so(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1)

        assert "has no trials yet" in resolute("e", "logs", "1").err

    def test_the_configuration_comes_whole_or_as_it_was_written(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1)

        assert read_document(resolute("e", "config", "1").out).value["searcher"]["metric"] == "loss"
        assert resolute("e", "config", "1", "--original").out == "name: original # with a comment\n"


class TestSteering:
    @pytest.mark.parametrize(
        ("verb", "done"),
        [
            ("pause", "Paused"),
            ("activate", "Activated"),
            ("unpause", "Activated"),
            ("cancel", "Canceled"),
            ("kill", "Killed"),
            ("archive", "Archived"),
            ("unarchive", "Unarchived"),
        ],
    )
    def test_each_verb_says_what_it_did(self, resolute: Any, master: FakeMaster, verb: str, done: str) -> None:
        master.add_experiment(1)

        outcome = resolute("e", verb, "1")

        assert outcome.out == f"{done} experiment 1\n"

    def test_deleting_asks_unless_told(
        self, resolute: Any, master: FakeMaster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import io

        master.add_experiment(1)
        monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))

        refused = resolute("e", "delete", "1")
        agreed = resolute("e", "delete", "1", "--yes")

        assert refused.code == 1
        assert agreed.out == "Deleting experiment 1\n"
        assert master.experiments == {}

    @pytest.mark.parametrize(("end", "code"), [("COMPLETED", 0), ("ERROR", 1), ("CANCELED", 1)])
    def test_waiting_tells_the_end_by_its_exit_code(
        self, resolute: Any, master: FakeMaster, end: str, code: int
    ) -> None:
        master.add_experiment(1, state=end)

        outcome = resolute("e", "wait", "1")

        assert (outcome.code, outcome.out) == (code, f"Experiment 1 ended as {end}\n")

    def test_watching_shows_trials_and_the_best_metric(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1, state="COMPLETED", progress=1.0)
        master.add_trial(1, state="COMPLETED", searcherMetricValue=0.5)
        master.add_trial(2, state="COMPLETED", searcherMetricValue=0.125)

        outcome = resolute("e", "watch", "1")

        assert outcome.code == 0
        assert "2 of 2 trials ended" in " ".join(outcome.out.split())
        assert "best loss 0.125 (trial 2)" in " ".join(outcome.out.split())

    def test_continuing_sends_what_changes(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1, state="COMPLETED")

        outcome = resolute("e", "continue", "1", "--config", "max_restarts=3")

        assert outcome.out == "Continued experiment 1\n"
        assert master.last("POST", "/api/v1/experiments/continue").body["overrideConfig"] == "max_restarts: 3\n"

    def test_moving_finds_the_project_by_name(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1)
        master.lists = {"workspaces": [{"id": 2, "name": "W"}], "projects": [{"id": 5, "name": "P"}]}

        outcome = resolute("e", "move", "1", "W", "P")

        assert outcome.out == "Moved experiment 1 to W/P\n"
        assert master.last("POST", "/api/v1/experiments/1/move").body["destinationProjectId"] == 5


class TestChanging:
    @pytest.mark.parametrize(
        ("arguments", "sent"),
        [
            (("name", "1", "new"), {"name": "new"}),
            (("description", "1", "why"), {"description": "why"}),
            (("priority", "1", "7"), {"resources": {"priority": 7}}),
            (("weight", "1", "2.5"), {"resources": {"weight": 2.5}}),
            (("max-slots", "1", "4"), {"resources": {"maxSlots": 4}}),
        ],
    )
    def test_each_attribute_is_one_patch(
        self, resolute: Any, master: FakeMaster, arguments: tuple[str, ...], sent: dict[str, Any]
    ) -> None:
        master.add_experiment(1)

        outcome = resolute("e", "set", *arguments)

        assert outcome.code == 0
        assert master.last("PATCH", "/api/v1/experiments/1").body == {"id": 1, **sent}

    def test_a_priority_out_of_range_is_refused_here(self, resolute: Any, master: FakeMaster) -> None:
        outcome = resolute("e", "set", "priority", "1", "100")

        assert "Priority 100 is out of range" in outcome.err
        assert master.calls == []

    def test_the_checkpoint_policy_is_set_whole(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1)
        policy = ("--save-experiment-best", "2", "--save-trial-best", "1", "--save-trial-latest", "0")

        resolute("e", "set", "gc-policy", "1", *policy, "--yes")

        assert master.last("PATCH", "/api/v1/experiments/1").body["checkpointStorage"] == {
            "saveExperimentBest": 2,
            "saveTrialBest": 1,
            "saveTrialLatest": 0,
        }

    def test_labels_come_and_go(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1, labels=["a"])

        resolute("e", "label", "add", "1", "b")
        resolute("e", "label", "add", "1", "b")
        resolute("e", "label", "remove", "1", "a")
        missing = resolute("e", "label", "remove", "1", "z")

        assert master.experiments[1]["labels"] == ["b"]
        assert "has no label 'z'. It has: b." in missing.err


class TestDownloading:
    def test_the_best_checkpoint_lands_in_a_folder_of_its_name(
        self, resolute: Any, master: FakeMaster, tmp_path: Path
    ) -> None:
        master.add_checkpoint("best", metric=0.1, files={"w": b"1"})

        outcome = resolute("e", "download", "1", "-q")

        assert outcome.out == "checkpoints/best\n"
        assert (tmp_path / "checkpoints" / "best" / "w").read_bytes() == b"1"

    def test_nothing_to_download_is_told(self, resolute: Any, master: FakeMaster) -> None:
        master.add_experiment(1)

        assert "no checkpoint with a validation metric yet" in resolute("e", "download", "1").err

    def test_another_metric_needs_its_direction(self, resolute: Any, master: FakeMaster) -> None:
        master.add_checkpoint("c", metric=0.1)

        refused = resolute("e", "download", "1", "--sort-by", "mAP")
        resolute("e", "download", "1", "--sort-by", "mAP", "--no-smaller-is-better")

        query = next(c.query for c in master.calls if c.path.endswith("/experiments/1/checkpoints"))
        assert "go together" in refused.err
        assert (query["sortByMetric"], query["orderBy"]) == (["mAP"], ["ORDER_BY_DESC"])

    def test_the_code_comes_back(self, resolute: Any, master: FakeMaster, tmp_path: Path) -> None:
        master.add_experiment(1)

        resolute("e", "download-model-def", "1", "--output-dir", "code")

        assert (tmp_path / "code" / "train.py").exists()
