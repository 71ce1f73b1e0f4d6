"""Deploy, canary, promote, roll back, undeploy: what is asked of the master and what is said."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resolute.client.lifecycle.model import Model
from resolute.domain.errors import NotFound
from resolute.lifecycle import (
    Config,
    InvalidModelProperty,
    ModelDeploymentException,
    ModelValidationException,
    UndefinedModelProperty,
    UnsupportedModelDeploymentException,
)

Make = Callable[..., Model]


@pytest.fixture
def trained(model: Model) -> Model:
    model.train({"--epochs": 1}, verbose=False)
    return model


class TestDeploying:
    def test_the_newest_saved_model_is_served_from_the_registry(self, trained: Model, master: Any) -> None:
        assert trained.deploy(autoscale=3, gpus=0) is True

        sent = master.deployments["dev-mnist"]["sent"]
        assert (sent["name"], sent["model"], sent["replace"]) == ("dev-mnist", "dev-mnist/1", False)
        assert sent["scaling"] == {"target": 3, "max_replicas": 4}
        assert sent["serving"] == {"slots": 0}
        assert trained.state == "deployed"

    def test_settings_pass_through(self, trained: Model, master: Any) -> None:
        trained.deploy(gpus=1, max_replicas=2, public=True, serving={"timeout_s": 5})

        sent = master.deployments["dev-mnist"]["sent"]
        assert sent["public"] is True
        assert sent["serving"] == {"slots": 1, "timeout_s": 5}

    @pytest.mark.parametrize(
        ("settings", "kind", "sentence"),
        [
            ({"colour": 1}, InvalidModelProperty, "deploy: 'colour' is unknown. Known are guard, public"),
            ({"transformer": object()}, UnsupportedModelDeploymentException, "transformer: there are none here"),
            ({"autoscale": 0}, ModelValidationException, "autoscale: 0"),
            ({"max_replicas": 0}, ModelValidationException, "max_replicas: 0"),
        ],
    )
    def test_settings_that_do_nothing_are_refused(
        self, trained: Model, master: Any, settings: dict[str, Any], kind: type[Exception], sentence: str
    ) -> None:
        with pytest.raises(kind, match=sentence):
            trained.deploy(**settings)

        assert master.deployments == {}

    def test_a_table_and_the_address_are_said(self, trained: Model, capsys: pytest.CaptureFixture[str]) -> None:
        trained.deploy()

        lines = capsys.readouterr().out.splitlines()[-3:]
        assert lines == [
            "NAME       READY  PREV  LATEST  URL",
            "dev-mnist  True         100     http://router/serving/dev-mnist",
            "Model dev/mnist deployed successfully. Cluster URL: "
            "http://router/serving/dev-mnist/v1/models/dev-mnist:predict",
        ]

    def test_the_second_protocol_has_another_address(self, make: Make, capsys: pytest.CaptureFixture[str]) -> None:
        serving = {"model_file": "model.py", "handler": "image_classifier", "protocol_version": "v2"}
        model = make(serving_config=serving)
        model.train({}, verbose=False)

        model.deploy()

        assert capsys.readouterr().out.rstrip().endswith("/v2/models/dev-mnist/infer")

    def test_twice_without_replace_is_an_error_that_is_said(
        self, trained: Model, master: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        trained.deploy()

        assert trained.deploy() is False
        assert "ERROR: Model dev/mnist is already deployed as dev-mnist. Use deploy(replace=True)" in (
            capsys.readouterr().out
        )
        assert len(master.deployments["dev-mnist"]["revisions"]) == 1

    def test_replace_puts_the_new_one_in_its_place(self, trained: Model, master: Any) -> None:
        trained.deploy()
        trained.train({}, verbose=False)

        assert trained.deploy(replace=True) is True
        assert master.deployments["dev-mnist"]["revisions"][0]["source"] == "model:dev-mnist/2"

    def test_a_revision_that_cannot_start_says_why(self, trained: Model, master: Any) -> None:
        master.fails_to_start = "model.py has no class"

        with pytest.raises(ModelDeploymentException, match=r"model\.py has no class See its log: resolute deploy logs"):
            trained.deploy()


class TestSources:
    def test_without_a_saved_model_there_is_nothing_to_deploy(self, model: Model) -> None:
        with pytest.raises(ModelDeploymentException, match=r"has no saved model yet\. Call train\(\) or tune\(\)"):
            model.deploy()

    def test_an_older_saved_model_is_found_by_its_address(self, trained: Model, master: Any) -> None:
        trained.train({}, verbose=False)

        trained.deploy(trained.saved_models[0].uri + "/")

        assert master.deployments["dev-mnist"]["sent"]["model"] == "dev-mnist/1"

    def test_changed_serving_files_are_put_together_anew(
        self, trained: Model, master: Any, base_dir: Path, tmp_path: Path
    ) -> None:
        (base_dir / "model.py").write_text("class Other: ...\n")

        trained.deploy()

        folder = Path(master.deployments["dev-mnist"]["sent"]["modelUri"])
        assert folder.parent == tmp_path / "models" / "dev" / "mnist" / "deploy"
        assert (folder / "model.pt").read_bytes() == b"weights"
        assert (folder / "model.py").read_text() == "class Other: ...\n"
        assert '"serialized_file": "model.pt"' in (folder / "serving.json").read_text()

    def test_a_folder_or_a_file_of_weights_is_put_together(self, model: Model, master: Any, tmp_path: Path) -> None:
        (tmp_path / "best.pt").write_bytes(b"best")

        model.deploy(str(tmp_path / "best.pt"))

        folder = Path(master.deployments["dev-mnist"]["sent"]["modelUri"])
        assert {path.name for path in folder.iterdir()} == {"best.pt", "model.py", "serving.json"}

    def test_a_url_is_passed_on(self, model: Model, master: Any) -> None:
        model.deploy("https://models.test/mnist.mar")

        assert master.deployments["dev-mnist"]["sent"]["modelUri"] == "https://models.test/mnist.mar"

    def test_a_path_with_nothing_there_is_refused(self, model: Model, master: Any, tmp_path: Path) -> None:
        with pytest.raises(NotFound, match="model_uri: there is nothing at"):
            model.deploy(str(tmp_path / "nowhere"))

        assert master.deployments == {}

    @pytest.mark.parametrize("serving", [{}, {"model_file": "model.py"}, {"handler": "image_classifier"}])
    def test_serving_needs_a_model_file_and_a_handler(self, make: Make, serving: dict[str, str]) -> None:
        model = make(serving_config=serving)
        model.train({}, verbose=False)

        with pytest.raises(UndefinedModelProperty, match=r"serving_config\.(model_file|handler): not given"):
            model.deploy()

    def test_pickled_models_are_not_served(self, make: Make) -> None:
        model = make(framework="sklearn")
        model.train({}, verbose=False)

        with pytest.raises(UnsupportedModelDeploymentException, match="sklearn models are not served"):
            model.deploy()


class TestCanary:
    def test_the_newest_model_gets_its_share(
        self, trained: Model, master: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        trained.deploy()
        trained.tune({"--lr": 1}, ["accuracy"], workers=1, trials=1)

        trained.deploy_canary(canary_traffic_percentage=30)

        deployment = master.deployments["dev-mnist"]
        assert (deployment["canaryRevision"], deployment["canaryPercent"]) == (2, 30)
        assert deployment["revisions"][0]["source"] == "model:dev-mnist/2"
        assert "dev-mnist  True   70    30      http://router" in capsys.readouterr().out

    def test_called_again_it_changes_the_share(self, trained: Model, master: Any) -> None:
        trained.deploy()
        trained.deploy_canary(10)

        trained.deploy_canary(50)

        deployment = master.deployments["dev-mnist"]
        assert (deployment["canaryRevision"], deployment["canaryPercent"]) == (2, 50)

    def test_it_changes_the_share_of_a_model_that_was_put_together_too(
        self, trained: Model, master: Any, base_dir: Path
    ) -> None:
        trained.deploy()
        (base_dir / "model.py").write_text("class Other: ...\n")
        trained.deploy_canary(10)

        trained.deploy_canary(20)

        deployment = master.deployments["dev-mnist"]
        assert (deployment["canaryRevision"], deployment["canaryPercent"]) == (2, 20)

    def test_promoted_it_gets_everything(self, trained: Model, master: Any) -> None:
        trained.deploy()
        trained.deploy_canary(30)
        before = trained.revision

        assert trained.promote_canary() is True
        assert master.deployments["dev-mnist"]["stableRevision"] == 2
        assert trained.revision != before

    def test_rolled_back_it_gets_nothing(self, trained: Model, master: Any) -> None:
        trained.deploy()
        trained.deploy_canary(30)

        assert trained.rollback_canary() is True
        assert master.deployments["dev-mnist"]["stableRevision"] == 1
        assert master.deployments["dev-mnist"]["canaryRevision"] is None

    @pytest.mark.parametrize("percent", [-1, 101, 30.5, "30", True])
    def test_a_share_is_a_percentage(self, trained: Model, percent: Any) -> None:
        trained.deploy()

        with pytest.raises(InvalidModelProperty, match="canary_traffic_percentage"):
            trained.deploy_canary(percent)

    @pytest.mark.parametrize(
        "act",
        [
            lambda model: model.deploy_canary(30),
            lambda model: model.promote_canary(),
            lambda model: model.rollback_canary(),
            lambda model: model.undeploy(),
        ],
    )
    def test_nothing_is_deployed_so_nothing_can_be_rolled_out(
        self, trained: Model, act: Callable[[Model], Any]
    ) -> None:
        with pytest.raises(ModelDeploymentException, match="dev/mnist is not deployed"):
            act(trained)

    @pytest.mark.parametrize("act", [lambda model: model.promote_canary(), lambda model: model.rollback_canary()])
    def test_without_a_canary_there_is_none_to_end(self, trained: Model, act: Callable[[Model], Any]) -> None:
        trained.deploy()

        with pytest.raises(ModelDeploymentException, match="dev/mnist has no canary"):
            act(trained)


class TestUndeploying:
    def test_it_waits_until_it_is_gone(self, trained: Model, master: Any) -> None:
        trained.deploy()
        master.leaving = 2

        assert trained.undeploy() is True
        assert (master.deployments, master.leaving) == ({}, 0)
        assert trained.state == "trained"


class TestAnotherProcess:
    """Only the master knows what was trained."""

    @pytest.fixture
    def elsewhere(self, make: Any, base_dir: Path, client: Any) -> Model:
        """The same model in a process that trained nothing, without a storage of its own."""
        return make(config=Config(base_dir=base_dir, client=client, interval_s=0.0))

    def test_a_registered_model_is_found_and_deployed(self, trained: Model, master: Any, elsewhere: Model) -> None:
        assert elsewhere.deploy() is True
        assert master.deployments["dev-mnist"]["sent"]["model"] == "dev-mnist/1"

    def test_the_newest_version_is_the_canary(self, trained: Model, master: Any, elsewhere: Model) -> None:
        trained.deploy()
        trained.train({}, verbose=False)

        elsewhere.deploy_canary(30)

        assert master.deployments["dev-mnist"]["revisions"][0]["source"] == "model:dev-mnist/2"

    def test_a_version_of_another_model_is_not_taken(self, trained: Model, master: Any, elsewhere: Model) -> None:
        master.models["dev-mnist"][0]["metadata"]["id"] = "dev.mnist"

        with pytest.raises(ModelDeploymentException, match="no saved model yet"):
            elsewhere.deploy()

    def test_without_a_storage_models_live_with_the_master(
        self, elsewhere: Model, master: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("RESOLUTE_HOME", str(tmp_path / "home"))

        elsewhere.train({}, verbose=False)

        assert elsewhere.saved_models[0].uri == "registry://dev-mnist/1"
        assert not (tmp_path / "home/models").exists()

    def test_changed_serving_files_are_put_together_from_the_masters_copy(
        self, elsewhere: Model, master: Any, base_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("RESOLUTE_HOME", str(tmp_path / "home"))
        elsewhere.train({}, verbose=False)
        (base_dir / "model.py").write_text("class Other: ...\n")

        elsewhere.deploy()

        folder = Path(master.deployments["dev-mnist"]["sent"]["modelUri"])
        assert (folder / "model.pt").read_bytes() == b"weights"
        assert "Other" in (folder / "model.py").read_text()
