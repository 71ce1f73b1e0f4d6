"""`Model.train`: what is sent, what is said, what is kept."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resolute.client.lifecycle.model import Model
from resolute.domain.errors import IllegalTransition, TooLarge
from resolute.lifecycle import (
    Double,
    InvalidModelProperty,
    ModelValidationException,
    Resources,
    WorkloadDeploymentError,
)

Make = Callable[..., Model]
HYPERPARAMETERS = {"--epochs": 5, "--batch-size": 1024, "--seed": 7}


class TestWhatIsSent:
    def test_an_experiment_with_one_process_for_each_worker(self, model: Model, master: Any) -> None:
        model.train(HYPERPARAMETERS, args={"--log-interval": "10"}, workers=2, cpu="1", memory="2G", gpus=0)

        config = master.config()
        assert config["name"].startswith("mnist-pytorchjob-")
        assert config["entrypoint"].endswith("torch_distributed -m resolute.training.lifecycle.runner")
        assert config["resources"] == {"slots_per_trial": 2}
        assert config["searcher"]["name"] == "single"
        assert config["max_restarts"] == 0
        assert set(config["labels"]) >= {"lifecycle", "train", "dev-mnist"}

    def test_flags_keep_their_order(self, model: Model, master: Any) -> None:
        model.train(HYPERPARAMETERS, args={"--log-interval": "10"})

        order = master.config()["data"]["lifecycle"]
        assert order["flags"] == ["--epochs", "--batch-size", "--seed"]
        assert order["args"] == [["--log-interval", "10"]]
        assert master.config()["hyperparameters"]["--epochs"] == {"type": "const", "val": 5}

    def test_the_variables_of_the_platform_are_set(self, model: Model, master: Any, tmp_path: Path) -> None:
        model.train(HYPERPARAMETERS)

        variables = dict(pair.split("=", 1) for pair in master.config()["environment"]["environment_variables"])
        token = model.saved_models[0].uri.rpartition("/")[2]
        assert variables["MODEL_LIFECYCLE_PHASE"] == "train"
        assert variables["TRAINED_MODEL_UPLOAD_PATH"] == f"{tmp_path}/models/dev/mnist/trained/{token}"
        assert variables["GPUS"] == "0"

    def test_files_travel_under_the_paths_that_were_written(self, model: Model, master: Any) -> None:
        model.train(HYPERPARAMETERS)

        sent = {f["path"]: base64.b64decode(f["content"]) for f in master.created()[0].body["modelDefinition"]}
        assert sent["datasets/MNIST/train"] == b"pictures"
        assert {"trainer.py", "model.py", "requirements.txt"} <= set(sent)

    def test_a_requirements_file_that_asks_for_nothing_builds_no_environment(
        self, model: Model, master: Any, base_dir: Path
    ) -> None:
        model.train(HYPERPARAMETERS)
        (base_dir / "requirements.txt").write_text("tqdm  # progress\n")
        model.train(HYPERPARAMETERS)

        assert "requirements" not in master.config(1)["environment"]
        assert master.config(2)["environment"]["requirements"] == "requirements.txt"

    def test_numbers_of_any_kind_and_other_values_travel(self, model: Model, master: Any) -> None:
        model.train({"--a": np.float32(0.5), "--b": np.int64(3), "--c": True, "--d": Path("x"), "--e": None})

        sent = {name: section["val"] for name, section in master.config()["hyperparameters"].items()}
        assert sent == {"--a": 0.5, "--b": 3, "--c": True, "--d": "x", "--e": None}

    def test_labels_of_the_model_are_labels_of_the_experiment(self, make: Make, master: Any) -> None:
        make(labels={"team": "sea", "draft": ""}).train(HYPERPARAMETERS)

        assert {"team=sea", "draft"} <= set(master.config()["labels"])

    def test_workers_with_several_gpus_are_fewer_than_slots(self, model: Model, master: Any) -> None:
        slot = {"enabled": True, "device": {"type": "TYPE_CUDA"}}
        master.lists["agents"] = [{"enabled": True, "slots": {str(n): slot for n in range(4)}}]

        model.train(HYPERPARAMETERS, workers=2, resources=Resources(gpu_limit=2))

        assert master.config()["resources"] == {"slots_per_trial": 4}
        assert " --nproc 2 " in master.config()["entrypoint"]

    def test_other_frameworks_run_as_one_process(self, make: Make, master: Any) -> None:
        make(framework="sklearn").train(HYPERPARAMETERS, workers=2)

        assert master.config()["entrypoint"] == "python3 -m resolute.training.lifecycle.runner"
        assert master.config()["resources"] == {"slots_per_trial": 1}
        assert master.config()["name"].startswith("mnist-job-")


class TestWhatIsKept:
    def test_the_exported_files_lie_under_the_models_name(self, model: Model, tmp_path: Path) -> None:
        assert model.train(HYPERPARAMETERS) is True

        saved = model.saved_models[0]
        folder = Path(saved.uri)
        assert folder.parent == tmp_path / "models" / "dev" / "mnist" / "trained"
        assert len(folder.name) == 32
        assert [path.name for path in folder.iterdir()] == ["model.pt"]
        assert (folder / "model.pt").read_bytes() == b"weights"

    def test_the_checkpoint_becomes_a_version_in_the_registry(self, model: Model, master: Any) -> None:
        model.train(HYPERPARAMETERS)
        model.train(HYPERPARAMETERS)

        assert [v["checkpointUuid"] for v in master.models["dev-mnist"]] == ["uuid-1", "uuid-2"]
        assert [saved.registered for saved in model.saved_models] == ["dev-mnist/1", "dev-mnist/2"]
        assert master.models["dev-mnist"][0]["metadata"]["uri"] == model.saved_models[0].uri

    def test_state_revision_hyperparameters_and_metrics_follow(self, model: Model) -> None:
        before = model.revision

        model.train(HYPERPARAMETERS)

        assert model.state == "trained"
        assert model.revision != before
        assert model.hyperparameters == HYPERPARAMETERS
        assert model.metrics == {"validation": {"accuracy": 0.9}}

    def test_a_trainer_that_exports_nothing_is_told_how(
        self, model: Model, master: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        master.exports = False

        assert model.train(HYPERPARAMETERS) is True
        assert "exported no model" in capsys.readouterr().out
        assert model.saved_models == ()

    def test_a_finished_experiment_is_archived_when_asked(
        self, model: Model, master: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model.train(HYPERPARAMETERS, force_cleanup=True)
        monkeypatch.setenv("KAPTAIN_SDK_FORCE_CLEANUP", "yes")
        model.train(HYPERPARAMETERS)
        model.train(HYPERPARAMETERS, force_cleanup=False)

        assert [master.experiments[number]["archived"] for number in (1, 2, 3)] == [True, True, False]


class TestWhatIsSaid:
    def test_the_log_is_shown_and_the_result(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        model.train(HYPERPARAMETERS)

        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith('Submitting a new training job "mnist-pytorchjob-')
        assert lines[1:3] == ["Epoch 1", "Epoch 2"]
        assert lines[-1] == "Training result: Succeeded"

    @pytest.mark.parametrize(("argument", "variable"), [(False, "true"), (None, "no")])
    def test_the_log_can_be_turned_off(
        self,
        model: Model,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        argument: bool | None,
        variable: str,
    ) -> None:
        monkeypatch.setenv("KAPTAIN_SDK_VERBOSE", variable)

        model.train(HYPERPARAMETERS, verbose=argument)

        assert "Epoch" not in capsys.readouterr().out

    def test_a_failed_training_is_false_and_keeps_nothing(
        self, model: Model, master: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        master.outcome = "ERROR"

        assert model.train(HYPERPARAMETERS) is False
        assert "Training result: Failed. Experiment 1 is ERROR" in capsys.readouterr().out
        assert (model.state, model.saved_models) == ("untrained", ())


class TestRefusals:
    """Nothing is created."""

    @pytest.mark.parametrize(
        ("arguments", "kind", "sentence"),
        [
            ({"workers": 3}, ModelValidationException, "3 workers need 3 slots; the cluster has 2"),
            ({"workers": 0}, ModelValidationException, "workers: 0"),
            ({"gpus": 1}, ModelValidationException, "the cluster has 0"),
            ({"args": ["--fast"]}, InvalidModelProperty, "args: .* is not a dictionary"),
            ({"args": {"--lr": Double(0, 1)}}, InvalidModelProperty, r"--lr is Double\(min=0, max=1\), a domain"),
            ({"cpu": "lots"}, InvalidModelProperty, "cpu: 'lots'"),
            ({"memory": "2 elephants"}, InvalidModelProperty, "memory: '2 elephants'"),
            ({"cpu": "1", "resources": Resources()}, ModelValidationException, "keep one of the two"),
        ],
    )
    def test_amounts_that_cannot_be_had(
        self, model: Model, master: Any, arguments: dict[str, Any], kind: type[Exception], sentence: str
    ) -> None:
        with pytest.raises(kind, match=sentence):
            model.train(HYPERPARAMETERS, **arguments)

        assert master.created() == []

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"main_file": "missing.py"}, "main_file: there is no 'missing.py'"),
            ({"extra_files": ["data"]}, "extra_files: there is no 'data'"),
            ({"extra_files": ["../code"]}, "extra_files: '../code' is not below"),
            ({"extra_files": ["/etc/hosts"]}, "extra_files: '/etc/hosts' is not below"),
            ({"requirements": "none.txt"}, "requirements: there is no 'none.txt'"),
            ({"serving_config": {"model_file": "net.py", "handler": "x"}}, "serving_config: there is no 'net.py'"),
        ],
    )
    def test_files_that_are_not_there(self, make: Make, master: Any, changes: dict[str, Any], sentence: str) -> None:
        with pytest.raises(InvalidModelProperty, match=sentence):
            make(**changes).train(HYPERPARAMETERS)

        assert master.created() == []

    def test_data_too_large_to_travel_is_named(self, model: Model, master: Any, base_dir: Path) -> None:
        with (base_dir / "datasets" / "MNIST" / "huge").open("wb") as file:
            file.truncate(200 << 20)

        with pytest.raises(TooLarge, match=r"datasets/MNIST/huge \(200\.0 MiB\)"):
            model.train(HYPERPARAMETERS)

        assert master.created() == []

    def test_a_cluster_that_names_no_nodes_is_not_judged(self, model: Model, master: Any) -> None:
        master.lists["agents"] = []

        assert model.train(HYPERPARAMETERS, workers=64) is True


class TestWaiting:
    def test_after_the_timeout_the_work_is_stopped(self, model: Model, master: Any) -> None:
        master.outcome = "RUNNING"

        with pytest.raises(WorkloadDeploymentError, match="is still RUNNING after 0 s and is stopped"):
            model.train(HYPERPARAMETERS, timeout=0, verbose=False)

        assert "/api/v1/experiments/1/kill" in master.paths("POST")

    def test_a_paused_experiment_is_not_waited_for(self, model: Model, master: Any) -> None:
        master.outcome = "PAUSED"

        with pytest.raises(IllegalTransition, match="Experiment 1 was paused"):
            model.train(HYPERPARAMETERS, verbose=False)
