"""`Model.tune`: the searcher that is sent, the line that is shown, the model that is kept."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resolute.client.lifecycle.messages import Messages
from resolute.client.lifecycle.model import Model
from resolute.client.lifecycle.progress import Progress
from resolute.lifecycle import Discrete, Double, ModelValidationException, UnsupportedAlgorithmException

Make = Callable[..., Model]
SPACE = {"--lr": Double(0.2, 0.8), "--epochs": Discrete(["5"])}


class TestWhatIsSent:
    def test_a_search_over_the_domains(self, model: Model, master: Any) -> None:
        model.tune(SPACE, ["accuracy"], objective_goal=0.99, trials=12, workers=1, failed_trials=3)

        config = master.config()
        assert config["name"].startswith("mnist-tune-")
        assert config["searcher"] == {
            "name": "random",
            "max_trials": 12,
            "max_concurrent_trials": 2,
            "metric": "accuracy",
            "smaller_is_better": False,
            "goal": 0.99,
            "max_failed_trials": 3,
        }
        assert config["hyperparameters"]["--lr"] == {"type": "double", "minval": 0.2, "maxval": 0.8}
        assert "MODEL_LIFECYCLE_PHASE=tune" in config["environment"]["environment_variables"]

    def test_only_the_best_model_is_kept_of_all_trials(self, model: Model, master: Any) -> None:
        model.tune(SPACE, ["accuracy"], workers=1)

        storage = master.config()["checkpoint_storage"]
        assert storage == {"save_experiment_best": 1, "save_trial_best": 0, "save_trial_latest": 0}

    def test_a_trial_that_reaches_the_goal_may_end_in_peace(self, model: Model, master: Any) -> None:
        model.tune(SPACE, ["accuracy"], objective_goal=0.9, workers=1)
        model.tune(SPACE, ["accuracy"], workers=1)

        assert master.config(1)["preemption_timeout"] > 86_400
        assert "preemption_timeout" not in master.config(2)

    def test_trainers_are_asked_to_stop_only_where_searches_do(self, model: Model, master: Any) -> None:
        model.tune(SPACE, ["accuracy"], workers=1)
        model.tune(SPACE, ["accuracy"], workers=1, algorithm="hyperband", algorithm_setting={"r_l": "9"})

        stops = [master.config(number)["data"]["lifecycle"]["is_stopped_early"] for number in (1, 2)]
        assert stops == [False, True]

    def test_more_trials_at_once_than_fit_are_fewer(
        self, model: Model, master: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        model.tune(SPACE, ["accuracy"], workers=2, parallel_trials=3)

        assert master.config()["searcher"]["max_concurrent_trials"] == 1
        assert "WARNING: parallel_trials: 3 trials of 2 slots" in capsys.readouterr().out

    def test_a_space_smaller_than_the_trials_is_said_and_searched_whole(
        self, model: Model, master: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        model.tune({"--seed": Discrete(["1", "7"])}, ["accuracy"], trials=12, workers=1)

        assert master.config()["searcher"]["name"] == "grid"
        assert "WARNING: trials: 12 are asked for" in capsys.readouterr().out


class TestWhatIsKept:
    def test_the_best_trials_model_and_hyperparameters(self, model: Model, master: Any, tmp_path: Path) -> None:
        master.results = [0.5, 0.97, 0.8]

        assert model.tune(SPACE, ["accuracy"], workers=1, trials=3) is True

        saved = model.saved_models[-1]
        assert saved.checkpoint == "uuid-2"
        assert Path(saved.uri).parent == tmp_path / "models" / "dev" / "mnist" / "tuned"
        assert model.hyperparameters == {"--lr": "--lr@2", "--epochs": "--epochs@2"}
        assert model.metrics["validation"] == {"accuracy": 0.97}
        assert model.state == "tuned"
        assert model.best_trial_name is not None
        assert model.best_trial_name.startswith(master.experiments[1]["name"])

    def test_hyperparameters_are_known_without_a_model(
        self, model: Model, master: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        master.results, master.exports = [0.5, 0.97], False

        assert model.tune(SPACE, ["accuracy"], workers=1, trials=2) is True
        assert model.hyperparameters["--lr"] == "--lr@2"
        assert "exported no model" in capsys.readouterr().out

    def test_the_smallest_is_best_when_minimizing(self, model: Model, master: Any) -> None:
        master.results, master.exports = [0.5, 0.1, 0.8], False

        model.tune(SPACE, ["loss"], objective_type="minimize", workers=1, trials=3)

        assert model.hyperparameters["--lr"] == "--lr@2"

    def test_a_search_without_a_metric_has_failed(
        self, model: Model, master: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        master.results = []

        assert model.tune(SPACE, ["accuracy"], workers=1) is False
        assert "no trial of experiment 1 recorded 'accuracy'" in capsys.readouterr().out

    def test_a_failed_search_is_false(self, model: Model, master: Any, capsys: pytest.CaptureFixture[str]) -> None:
        master.outcome = "ERROR"

        assert model.tune(SPACE, ["accuracy"], workers=1, delete_experiment=True) is False
        assert "final status: Failed" in capsys.readouterr().out
        assert master.experiments[1]["archived"] is True


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "kind"),
        [
            ({"algorithm": "enas"}, UnsupportedAlgorithmException),
            ({"trials": 0}, ModelValidationException),
            ({"parallel_trials": 0}, ModelValidationException),
            ({"failed_trials": -1}, ModelValidationException),
            ({"workers": 9}, ModelValidationException),
        ],
    )
    def test_nothing_is_created(
        self, model: Model, master: Any, arguments: dict[str, Any], kind: type[Exception]
    ) -> None:
        with pytest.raises(kind):
            model.tune(SPACE, ["accuracy"], **{"workers": 1, **arguments})

        assert master.created() == []


class TestProgressLine:
    def test_it_reads_as_people_know_it(self) -> None:
        line = Progress(done=16, total=16).line(435.2, "accuracy", 0.9574999809265137)

        assert line == (
            "Progress: 100%|=========================|16/16 [time: 07:15, accuracy: 0.9574999809265137, "
            "trials running: 0, pending: 0, failed: 0, killed: 0]"
        )

    def test_states_of_trials_are_counted(self) -> None:
        states = ["COMPLETED", "ERROR", "CANCELED", "RUNNING", "STARTING", "QUEUED", "STOPPING_COMPLETED"]

        progress = Progress.of(states, 14)

        assert progress == Progress(done=3, total=14, running=3, pending=1, failed=1, killed=1)
        assert progress.line(5, "loss", None).startswith(
            "Progress: 21%|=====                    |3/14 [time: 00:05, loss: -"
        )

    def test_nothing_to_do_is_all_done(self) -> None:
        assert Progress(done=0, total=0).line(0, "loss", None).startswith("Progress: 100%|")

    def test_a_screen_shows_one_line_that_changes(self) -> None:
        class Screen(io.StringIO):
            def isatty(self) -> bool:
                return True

        screen = Screen()
        messages = Messages(screen)
        messages.show("first line")
        messages.show("second")
        messages.settle("last")
        messages.say("done")

        assert screen.getvalue() == "\rfirst line\rsecond    \rlast  \ndone\n"

    def test_a_file_gets_the_last_one_only(self) -> None:
        file = io.StringIO()
        messages = Messages(file)
        messages.show("first")
        messages.settle("last")

        assert file.getvalue() == "last\n"

    def test_a_search_ends_with_it(self, model: Model, master: Any, capsys: pytest.CaptureFixture[str]) -> None:
        master.results = [0.5, 0.97]

        model.tune(SPACE, ["accuracy"], workers=1, trials=2)

        lines = capsys.readouterr().out.splitlines()
        assert "|2/2 [time: 00:00, accuracy: 0.97, trials running: 0" in lines[2]
        assert lines[3] == "Model tuning completed, final status: Succeeded"
        assert lines[5].startswith(
            "    parameters: {'--lr': '--lr@2', '--epochs': '--epochs@2'}, best_trial_name: mnist-tune-"
        )
