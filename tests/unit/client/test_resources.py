"""Experiments, trials and checkpoints, as a user of the SDK meets them."""

import json
from pathlib import Path

import httpx
import pytest

from resolute.client import Checkpoint, Client, Experiment, LogFilter, Trial
from resolute.client.configuration import as_dict, as_yaml, with_overrides
from resolute.client.fake import FakeMaster
from resolute.domain.errors import (
    CheckpointDamaged,
    IllegalTransition,
    InvalidConfig,
    InvalidInput,
    NotFound,
    Unavailable,
)

CONFIG = "name: demo # why\nsearcher: {name: single}\n"


class TestCreating:
    def test_the_text_travels_with_its_comments_and_the_code_with_it(
        self, client: Client, master: FakeMaster, tmp_path: Path
    ) -> None:
        (tmp_path / "config.yaml").write_text(CONFIG)
        (tmp_path / "model").mkdir()
        (tmp_path / "model" / "train.py").write_text("")

        experiment = client.create_experiment(tmp_path / "config.yaml", tmp_path / "model", project_id=3)

        sent = master.last("POST", "/api/v1/experiments").body
        assert experiment.id == 1
        assert sent["config"] == CONFIG
        assert [file["path"] for file in sent["modelDefinition"]] == ["train.py"]
        assert (sent["activate"], sent["projectId"]) == (True, 3)
        assert "template" not in sent

    def test_it_can_be_left_paused(self, client: Client) -> None:
        assert client.create_experiment(CONFIG, activate=False).state == "PAUSED"

    def test_validating_creates_nothing(self, client: Client, master: FakeMaster) -> None:
        assert client.validate_experiment(CONFIG) == {"name": "checked"}
        assert master.experiments == {}

    def test_a_dictionary_is_written_as_yaml(self, client: Client, master: FakeMaster) -> None:
        client.create_experiment({"name": "x", "hyperparameters": {"lr": 0.1}})

        sent = master.last("POST", "/api/v1/experiments").body["config"]
        assert as_dict(sent) == {"name": "x", "hyperparameters": {"lr": 0.1}}

    def test_the_masters_sentences_name_the_users_file(
        self, client: Client, master: FakeMaster, tmp_path: Path
    ) -> None:
        (tmp_path / "my.yaml").write_text(CONFIG)
        client.users.me()
        sentence = "config:2: searcher.nme: unknown key; did you mean name?"
        master.failures.append(httpx.Response(400, json={"error": {"code": 3, "error": sentence}}))

        with pytest.raises(InvalidConfig, match=r"/my\.yaml:2: searcher\.nme: unknown key"):
            client.create_experiment(tmp_path / "my.yaml")

    def test_a_file_that_is_not_there_is_named_before_anything_is_sent(
        self, client: Client, master: FakeMaster, tmp_path: Path
    ) -> None:
        with pytest.raises(InvalidInput, match=r"missing\.yaml cannot be read"):
            client.create_experiment(tmp_path / "missing.yaml")

        assert master.calls == []


class TestConfiguration:
    def test_overrides_are_laid_over_the_file(self) -> None:
        changed = with_overrides(CONFIG, ["searcher.name=grid", "resources.slots_per_trial=2"])

        assert as_dict(changed) == {"name": "demo", "searcher": {"name": "grid"}, "resources": {"slots_per_trial": 2}}

    def test_without_overrides_the_text_is_untouched(self) -> None:
        assert as_yaml(with_overrides(CONFIG, [])) == CONFIG

    def test_a_faulty_override_is_quoted(self) -> None:
        with pytest.raises(InvalidConfig, match="--config nonsense: is not key=value"):
            with_overrides(CONFIG, ["nonsense"])

    def test_a_yaml_fault_names_file_and_line(self, tmp_path: Path) -> None:
        (tmp_path / "bad.yaml").write_text("name: x\nsearcher: [\n")

        with pytest.raises(InvalidConfig, match=r"bad\.yaml:\d"):
            as_dict(tmp_path / "bad.yaml")

    def test_a_text_that_is_no_map_is_refused(self) -> None:
        with pytest.raises(InvalidConfig, match="config:1: is a list, not a map"):
            as_dict("- a\n- b\n")


class TestExperiment:
    def test_waiting_ends_with_the_state_it_ended_in(self, client: Client, master: FakeMaster) -> None:
        master.add_experiment(1)
        master.states[1] = ["ACTIVE", "ACTIVE", "STOPPING_COMPLETED", "COMPLETED"]
        waits: list[float] = []

        state = client.get_experiment(1).wait(sleep=waits.append, interval_s=0.25)

        assert state == "COMPLETED"
        assert waits == [0.25, 0.25]

    def test_waiting_for_a_paused_experiment_is_refused(self, client: Client, master: FakeMaster) -> None:
        master.add_experiment(1, state="PAUSED")

        with pytest.raises(IllegalTransition, match="resolute e activate 1"):
            client.get_experiment(1).wait()

    def test_waiting_has_an_end(self, client: Client, master: FakeMaster) -> None:
        master.add_experiment(1)
        times = iter([0.0, 1.0, 2.0, 3.0])

        with pytest.raises(Unavailable, match="still ACTIVE after 2 s"):
            client.get_experiment(1).wait(timeout_s=2, sleep=lambda _: None, clock=lambda: next(times))

    @pytest.mark.parametrize("verb", ["pause", "activate", "cancel", "kill", "archive", "unarchive"])
    def test_each_verb_is_one_call(self, client: Client, master: FakeMaster, verb: str) -> None:
        master.add_experiment(1)

        getattr(client.get_experiment(1), verb)()

        assert master.paths("POST") == [f"/api/v1/experiments/1/{verb}"]

    def test_deleting_moving_and_changing(self, client: Client, master: FakeMaster) -> None:
        master.add_experiment(1)
        experiment = client.get_experiment(1)

        experiment.update(name="new", labels=["a"])
        experiment.move_to(5)
        renamed = experiment.reload().name
        experiment.delete()

        assert renamed == "new"
        assert master.last("POST", "/api/v1/experiments/1/move").body == {"experimentId": 1, "destinationProjectId": 5}
        with pytest.raises(NotFound, match="experiment not found: 1"):
            experiment.reload()

    def test_lists_filter_and_follow_their_pages(self, client: Client, master: FakeMaster) -> None:
        for number in range(1, 251):
            master.add_experiment(number, archived=number % 2 == 0)

        found = list(client.list_experiments(archived=False))

        assert [e.id for e in found] == list(range(1, 251, 2))

    def test_the_first_trial_is_waited_for(self, client: Client, master: FakeMaster) -> None:
        master.add_experiment(1)

        trial = client.get_experiment(1).await_first_trial(sleep=lambda _: master.add_trial(4))

        assert trial.id == 4

    def test_an_experiment_that_ends_without_a_trial_says_so(self, client: Client, master: FakeMaster) -> None:
        master.add_experiment(1, state="ERROR")

        with pytest.raises(NotFound, match="ended as ERROR without a trial"):
            client.get_experiment(1).await_first_trial()

    def test_the_top_checkpoint_is_the_best(self, client: Client, master: FakeMaster) -> None:
        for uuid, metric in (("a", 0.5), ("b", 0.1), ("c", None)):
            master.add_checkpoint(uuid, metric=metric)

        top = client.get_experiment(1).top_checkpoint()

        assert top is not None
        assert (top.uuid, top.searcher_metric) == ("b", 0.1)
        assert master.calls[-1].query["states"] == ["STATE_COMPLETED"]

    def test_without_a_validation_there_is_no_top_checkpoint(self, client: Client, master: FakeMaster) -> None:
        master.add_experiment(1)

        assert client.get_experiment(1).top_checkpoint() is None

    def test_its_code_comes_back(self, client: Client, master: FakeMaster, tmp_path: Path) -> None:
        master.add_experiment(1)

        folder = client.get_experiment(1).download_model_def(tmp_path / "code")

        assert (folder / "train.py").read_text() == "print()"

    def test_continuing_sends_the_overrides_as_yaml(self, client: Client, master: FakeMaster) -> None:
        master.add_experiment(1, state="COMPLETED")

        assert client.continue_experiment(1, {"max_restarts": 2}).state == "ACTIVE"
        assert master.calls[-1].body == {"id": 1, "overrideConfig": "max_restarts: 2\n"}


class TestTrial:
    def test_logs_come_ready_to_print(self, client: Client, master: FakeMaster) -> None:
        master.add_trial(1)
        master.logs[1] = ["one", "two", "three"]

        lines = [line["message"] for line in client.get_trial(1).logs()]

        assert lines == ["one\n", "two\n", "three\n"]

    def test_the_tail_is_shown_in_order(self, client: Client, master: FakeMaster) -> None:
        master.add_trial(1)
        master.logs[1] = ["one", "two", "three"]

        lines = [line["message"] for line in client.get_trial(1).logs(LogFilter(tail=2))]

        assert lines == ["two\n", "three\n"]

    def test_following_a_tail_shows_no_line_twice(self, client: Client, master: FakeMaster) -> None:
        master.add_trial(1)
        master.logs[1] = ["one", "two", "three"]

        lines = [line["message"] for line in client.get_trial(1).logs(LogFilter(tail=1, follow=True))]

        assert lines == ["three\n", "one\n", "two\n"]  # the fake knows no time; ids keep "three" from coming twice

    def test_a_level_means_that_level_or_higher(self, client: Client, master: FakeMaster) -> None:
        master.add_trial(1)

        list(client.get_trial(1).logs(LogFilter(level="error", ranks=[0, 2])))

        query = master.calls[-1].query
        assert query["levels"] == ["LOG_LEVEL_ERROR", "LOG_LEVEL_CRITICAL"]
        assert query["rankIds"] == ["0", "2"]

    @pytest.mark.parametrize("wanted", [LogFilter(level="loud"), LogFilter(head=1, tail=1)])
    def test_filters_that_make_no_sense_are_refused(
        self, client: Client, master: FakeMaster, wanted: LogFilter
    ) -> None:
        master.add_trial(1)

        with pytest.raises(InvalidInput):
            list(client.get_trial(1).logs(wanted))

    @pytest.mark.parametrize("inner", ["avg_metrics", "validation_metrics"])
    def test_metrics_have_one_shape_whatever_the_group(self, client: Client, master: FakeMaster, inner: str) -> None:
        master.add_trial(1)
        report = {"trialId": 1, "group": "g", "totalBatches": 7, "endTime": "t", "metrics": {inner: {"loss": 1.0}}}
        master.metrics[1] = [report]

        [found] = client.get_trial(1).metrics("g")

        assert (found["steps_completed"], found["metrics"]) == (7, {"loss": 1.0})

    def test_killing_and_listing_checkpoints(self, client: Client, master: FakeMaster) -> None:
        master.add_checkpoint("a", metric=0.3)
        trial = client.get_trial(1)

        trial.kill()

        assert [c.uuid for c in trial.list_checkpoints()] == ["a"]
        assert trial.top_checkpoint() is not None
        assert "/api/v1/trials/1/kill" in master.paths("POST")


class TestCheckpoint:
    FILES = {"weights.pt": b"12345", "deep/state.json": b"{}"}  # noqa: RUF012

    def test_a_download_has_every_file_and_the_metadata(
        self, client: Client, master: FakeMaster, tmp_path: Path
    ) -> None:
        master.add_checkpoint("a", files=self.FILES)

        folder = client.get_checkpoint("a").download(tmp_path / "here")

        assert (folder / "weights.pt").read_bytes() == b"12345"
        assert (folder / "deep" / "state.json").read_bytes() == b"{}"
        assert json.loads((folder / "metadata.json").read_text()) == {"steps_completed": 10}

    def test_what_is_there_already_is_not_fetched_again(
        self, client: Client, master: FakeMaster, tmp_path: Path
    ) -> None:
        master.add_checkpoint("a", files=self.FILES)
        checkpoint = client.get_checkpoint("a")
        checkpoint.download(tmp_path / "here")
        calls = len(master.calls)

        checkpoint.download(tmp_path / "here")

        assert len(master.calls) == calls

    def test_a_file_cut_short_is_noticed_and_nothing_is_left_behind(
        self, client: Client, master: FakeMaster, tmp_path: Path
    ) -> None:
        master.add_checkpoint("a", files=self.FILES)["resources"]["weights.pt"] = "99"

        with pytest.raises(CheckpointDamaged, match=r"weights\.pt of checkpoint a has 5 bytes; 99 were stored"):
            client.get_checkpoint("a").download(tmp_path / "here")

        assert list(tmp_path.glob("here*")) == []

    def test_a_deleted_one_cannot_be_downloaded(self, client: Client, master: FakeMaster, tmp_path: Path) -> None:
        master.add_checkpoint("a")["state"] = "STATE_DELETED"

        with pytest.raises(IllegalTransition, match="a is DELETED"):
            client.get_checkpoint("a").download(tmp_path / "here")

    @pytest.mark.parametrize(
        "storage", [{"type": "shared_fs", "storage_path": "s"}, {"type": "directory", "storage_path": "s"}]
    )
    def test_a_folder_that_both_sides_see_is_copied_directly(
        self, client: Client, master: FakeMaster, tmp_path: Path, storage: dict[str, str]
    ) -> None:
        (tmp_path / "s" / "a").mkdir(parents=True)
        (tmp_path / "s" / "a" / "weights.pt").write_bytes(b"12345")
        where = {**storage, "host_path": str(tmp_path), "container_path": str(tmp_path / "s")}
        master.add_checkpoint("a", files={"weights.pt": b"12345"})["training"]["experimentConfig"] = {
            "checkpoint_storage": where
        }

        folder = client.get_checkpoint("a").download(tmp_path / "here", mode="direct")

        assert (folder / "weights.pt").read_bytes() == b"12345"
        assert "/checkpoints/a" not in master.paths()

    def test_direct_without_a_shared_folder_is_refused(
        self, client: Client, master: FakeMaster, tmp_path: Path
    ) -> None:
        master.add_checkpoint("a")

        with pytest.raises(InvalidInput, match="Use mode master, or auto"):
            client.get_checkpoint("a").download(tmp_path / "here", mode="direct")

    def test_deleting_sends_the_uuids_in_the_body(self, client: Client, master: FakeMaster) -> None:
        master.add_checkpoint("a")

        client.get_checkpoint("a").delete()
        client.get_checkpoint("a").remove_files(["*.pt"])

        assert master.last("DELETE", "/api/v1/checkpoints").body == {"checkpointUuids": ["a"]}
        assert master.calls[-1].body == {"checkpointUuids": ["a"], "checkpointGlobs": ["*.pt"]}


class TestFacts:
    """Properties that read well from whatever the master sent."""

    def test_an_experiment_with_little_known_of_it(self, client: Client) -> None:
        bare = Experiment(client.session, {"id": 3})

        assert (bare.name, bare.state, bare.description, bare.labels) == ("", "", "", [])
        assert (bare.progress, bare.is_archived, bare.is_finished) == (0.0, False, False)
        assert (bare.start_time, bare.searcher_metric, bare.smaller_is_better) == (None, "", True)

    @pytest.mark.parametrize(
        ("state", "is_finished"),
        [("ACTIVE", False), ("PAUSED", False), ("STOPPING_CANCELED", False), ("COMPLETED", True), ("ERROR", True)],
    )
    def test_an_experiment_knows_when_it_is_over(self, client: Client, state: str, is_finished: bool) -> None:
        assert Experiment(client.session, {"id": 1, "state": f"STATE_{state}"}).is_finished is is_finished

    def test_times_carry_their_zone(self, client: Client) -> None:
        experiment = Experiment(client.session, {"id": 1, "startTime": "2026-01-01T12:00:00.5Z"})

        assert experiment.start_time is not None
        assert experiment.start_time.utcoffset() is not None

    def test_a_trial_reads_its_numbers(self, client: Client) -> None:
        data = {"id": 2, "experimentId": 1, "state": "STATE_ERROR", "restarts": 3, "totalBatchesProcessed": 9}
        trial = Trial(client.session, {**data, "searcherMetricValue": 0.5, "summaryMetrics": {"a": 1}})

        assert (trial.id, trial.experiment_id, trial.state, trial.is_finished) == (2, 1, "ERROR", True)
        assert (trial.restarts, trial.total_batches, trial.searcher_metric) == (3, 9, 0.5)
        assert (trial.summary_metrics, trial.hparams) == ({"a": 1}, {})

    def test_a_checkpoints_sizes_are_numbers_though_they_travel_as_text(self, client: Client) -> None:
        data = {"uuid": "c", "state": "STATE_COMPLETED", "resources": {"a": "5", "b/": "0"}}
        checkpoint = Checkpoint(client.session, data)

        assert checkpoint.resources == {"a": 5, "b/": 0}
        assert checkpoint.size == 5
        assert (checkpoint.trial_id, checkpoint.experiment_id, checkpoint.steps_completed) == (None, None, 0)

    def test_folders_named_in_a_checkpoint_need_no_file(
        self, client: Client, master: FakeMaster, tmp_path: Path
    ) -> None:
        master.add_checkpoint("c", files={"w": b"1"})["resources"]["sub/"] = "0"

        assert (client.get_checkpoint("c").download(tmp_path / "c") / "w").exists()

    def test_an_archive_that_is_not_one_is_damage(self, client: Client, master: FakeMaster, tmp_path: Path) -> None:
        master.add_checkpoint("c", files={"w": b"1"})
        checkpoint = client.get_checkpoint("c")
        master.failures.append(httpx.Response(200, content=iter([b"not a tar"])))

        with pytest.raises(CheckpointDamaged, match="did not arrive whole"):
            checkpoint.download(tmp_path / "c")

    def test_metadata_written_by_the_trial_is_kept(self, client: Client, master: FakeMaster, tmp_path: Path) -> None:
        master.add_checkpoint("c", files={"metadata.json": b'{"mine": 1}'})

        folder = client.get_checkpoint("c").download(tmp_path / "c")

        assert json.loads((folder / "metadata.json").read_text()) == {"mine": 1}
