"""A model's whole life on a live master: the example's trainer, on two workers, searched, served and rolled out."""

import importlib.util
import runpy
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from resolute.client import Client
from resolute.client.lifecycle import housekeeping
from resolute.lifecycle import Config, Double, Model, ModelDeploymentException, ModelFramework

EXAMPLE = Path(__file__).parents[3] / "examples" / "mnist_lifecycle"


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, with its data drawn."""
    target = tmp_path_factory.mktemp("lifecycle") / "example"
    shutil.copytree(EXAMPLE, target, ignore=shutil.ignore_patterns("datasets", "__pycache__", "model.pt"))
    _loaded(target / "make_data.py").write_digits(target / "datasets")
    return target


@pytest.fixture
def client(live_master: Any, tmp_path: Path) -> Iterator[Client]:
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "RESOLUTE_MASTER": live_master.url}
    with Client(env=env) as client:
        yield client
        for deployment in client.deployments.all():
            deployment.delete()


@pytest.fixture
def config(client: Client, folder: Path, tmp_path: Path) -> Config:
    return Config(base_dir=folder, base_model_storage_uri=tmp_path / "models", client=client)


@pytest.fixture
def model(config: Config) -> Model:
    return Model(
        id="dev/mnist",
        name="MNIST",
        description="Drawn digits",
        version="0.0.1",
        framework=ModelFramework.PYTORCH,
        framework_version="2",
        main_file="trainer.py",
        extra_files=["datasets/MNIST", "model.py"],
        requirements="requirements.txt",
        serving_config={"model_file": "model.py", "handler": "image_classifier"},
        config=config,
    )


def _pictures(folder: Path, count: int) -> tuple[list[Any], list[int]]:
    pictures, labels = _loaded(folder / "make_data.py").draw(count, seed=1)
    return [((picture[None] / 255.0 - 0.1307) / 0.3081).tolist() for picture in pictures], labels.tolist()


def test_trained_searched_deployed_rolled_out_and_remembered(
    model: Model, client: Client, config: Config, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert model.train(
        {"--epochs": 4, "--seed": 7}, args={"--log-interval": "4"}, workers=2, cpu="1", memory="2G", gpus=0
    )
    said = capsys.readouterr().out
    assert "[rank=0] INFO:root:Metrics saved." in said
    assert "[rank=1] INFO:root:Test accuracy: " in said
    assert said.endswith("Training result: Succeeded\n")
    trained = model.saved_models[0]
    assert (Path(trained.uri) / "model.pt").stat().st_size > 10_000
    assert set(model.metrics["validation"]) == {"loss", "accuracy"}

    assert model.deploy(cpu="1", memory="4G", public=True)
    assert not model.deploy()
    pictures, labels = _pictures(folder, 20)
    url = capsys.readouterr().out.split("Cluster URL: ")[1].splitlines()[0]
    answer = httpx.post(url, json={"instances": [{"data": pictures[0]}]}, timeout=30)
    (prediction,) = answer.json()["predictions"]
    assert len(prediction) == 5
    assert 0.5 < sum(prediction.values()) <= 1.0001

    space = {"--lr": Double(0.005, 0.02), "--epochs": 6}
    assert model.tune(space, ["accuracy", "loss"], trials=4, parallel_trials=2, workers=1, failed_trials=1)
    said = capsys.readouterr().out
    assert "Progress: 100%|=========================|4/4 [time: 00:" in said
    assert f"best_trial_name: {model.best_trial_name}" in said
    tuned = model.saved_models[-1]
    assert Path(tuned.uri).parent == tmp_path / "models" / "dev" / "mnist" / "tuned"
    assert 0.005 <= float(model.hyperparameters["--lr"]) <= 0.02

    assert model.deploy_canary(canary_traffic_percentage=30)
    assert model.deploy_canary(canary_traffic_percentage=40)
    deployment = client.deployments.get("dev-mnist")
    assert (deployment.data["stableRevision"], deployment.data["canaryPercent"]) == (1, 40)
    assert model.promote_canary()
    with pytest.raises(ModelDeploymentException):
        model.rollback_canary()
    best = client.deployments.get("dev-mnist")
    assert best.revisions[0]["checkpointUuid"] == tuned.checkpoint
    predictions = best.predict([{"data": picture} for picture in pictures])
    right = sum(max(p, key=p.get) == str(label) for p, label in zip(predictions, labels, strict=True))
    assert right >= 12, f"{right} of 20, accuracy {model.metrics}"

    kinds = {node["kind"] for node in client.lineage("deployment", best.name)["nodes"]}
    assert {"deployment", "model_version", "checkpoint", "trial", "experiment"} <= kinds

    loaded = Model.load_from_json(model.save_as_json(), config)
    assert loaded.meta() == model.meta()
    assert loaded.undeploy()
    assert "dev-mnist" not in housekeeping.list_inference_services(client)
    assert len(housekeeping.clean(client=client)) == 2


def test_a_trainer_that_fails_shows_its_error_and_is_false(model: Model, capsys: pytest.CaptureFixture[str]) -> None:
    assert model.train({"--epochs": "many"}, workers=1) is False

    said = capsys.readouterr().out
    assert "argument --epochs: invalid int value: 'many'" in said
    assert "Training result: Failed" in said


def test_the_same_trainer_runs_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    alone = tmp_path / "alone"
    shutil.copytree(folder, alone)
    monkeypatch.chdir(alone)
    monkeypatch.syspath_prepend(str(alone))
    monkeypatch.setattr(sys, "argv", ["trainer.py", "--epochs", "1", "--unknown", "1"])
    caplog.set_level("INFO")

    runpy.run_path("trainer.py", run_name="__main__")
    del sys.modules["model"]

    assert "Test accuracy" in caplog.text
    assert "Record metrics" not in caplog.text
    assert (alone / "model.pt").exists()
