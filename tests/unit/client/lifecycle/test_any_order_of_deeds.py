"""Whatever is done with a model in whatever order: its state, its memory and the master agree."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resolute.client import Client
from resolute.client.lifecycle.model import Model
from resolute.lifecycle import Config, Discrete, ModelDeploymentException

DEEDS = ("train", "tune", "deploy", "replace", "canary", "promote", "rollback", "undeploy", "reload", "fail")


@dataclass
class Expected:
    """What must be so, kept by rules that fit on one screen."""

    saved: int = 0
    is_deployed: bool = False
    has_canary: bool = False
    state: str = "untrained"

    def allows(self, deed: str) -> bool:
        """Whether the deed does not raise."""
        match deed:
            case "deploy":
                return self.is_deployed or self.saved > 0
            case "replace":
                return self.saved > 0
            case "canary":
                return self.is_deployed and self.saved > 0
            case "promote" | "rollback":
                return self.is_deployed and self.has_canary
            case "undeploy":
                return self.is_deployed
        return True

    def apply(self, deed: str, kind: str | None) -> None:
        if deed in ("train", "tune"):
            self.saved += 1
            self.state = {"train": "trained", "tune": "tuned"}[deed]
        if deed == "replace" or (deed == "deploy" and not self.is_deployed):
            self.is_deployed, self.has_canary, self.state = True, False, "deployed"
        if deed in ("canary", "promote", "rollback"):
            self.has_canary = deed == "canary"
        if deed == "undeploy":
            self.is_deployed = self.has_canary = False
            self.state = kind or "untrained"


def do(deed: str, model: Model, master: Any, config: Config) -> Model:
    match deed:
        case "train":
            assert model.train({"--epochs": 1}, verbose=False)
        case "tune":
            assert model.tune({"--lr": Discrete([1, 2])}, ["accuracy"], workers=1)
        case "fail":
            master.outcome = "ERROR"
            assert not model.train({"--epochs": 1}, verbose=False)
            master.outcome = "COMPLETED"
        case "deploy":
            model.deploy()
        case "replace":
            assert model.deploy(replace=True)
        case "canary":
            assert model.deploy_canary(30)
        case "promote":
            assert model.promote_canary()
        case "rollback":
            assert model.rollback_canary()
        case "undeploy":
            assert model.undeploy()
        case "reload":
            return Model.load_from_json(model.save_as_json(overwrite=True), config)
    return model


def check(model: Model, master: Any, expected: Expected) -> None:
    deployment = master.deployments.get("dev-mnist")
    assert model.state == expected.state
    assert len(model.saved_models) == len(master.models.get("dev-mnist", [])) == expected.saved
    assert len({saved.uri for saved in model.saved_models}) == expected.saved
    assert all((Path(saved.uri) / "model.pt").is_file() for saved in model.saved_models)
    assert (deployment is not None) == expected.is_deployed
    assert bool(deployment and deployment["canaryRevision"]) == expected.has_canary


@contextmanager
def fresh_model(master_kind: type[Any], base_dir: Path) -> Iterator[tuple[Model, Any, Config]]:
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        master = master_kind()
        env = {"XDG_CONFIG_HOME": folder, "RESOLUTE_MASTER": "http://fake:8080"}
        client = Client(env=env, transport=master.transport())
        config = Config(base_dir=base_dir, base_model_storage_uri=f"{folder}/models", client=client, interval_s=0.0)
        model = Model(
            id="dev/mnist",
            name="MNIST",
            description="",
            version="1",
            framework="pytorch",
            framework_version="2",
            main_file="trainer.py",
            serving_config={"model_file": "model.py", "handler": "image_classifier"},
            config=config,
        )
        yield model, master, config


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds=st.lists(st.sampled_from(DEEDS), max_size=12))
def test_every_deed_does_what_the_rules_say_or_raises(master: Any, base_dir: Path, deeds: list[str]) -> None:
    expected = Expected()

    with fresh_model(type(master), base_dir) as (model, playing, config):
        for deed in deeds:
            if not expected.allows(deed):
                with pytest.raises(ModelDeploymentException):
                    do(deed, model, playing, config)
                continue
            before = model.revision
            model = do(deed, model, playing, config)
            is_deed = deed not in ("reload", "fail") and not (deed == "deploy" and expected.is_deployed)
            kind = model.saved_models[-1].kind if model.saved_models else None
            expected.apply(deed, kind)
            assert (model.revision != before) == is_deed
            check(model, playing, expected)
