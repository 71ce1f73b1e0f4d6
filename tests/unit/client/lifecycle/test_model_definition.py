"""What a model may be made of, and what is refused with a name and a remedy."""

from collections.abc import Callable
from typing import Any

import pytest

from resolute.client.lifecycle.model import Model
from resolute.client.lifecycle.naming import job_name, sanitize, trial_name
from resolute.domain.errors import ResoluteError
from resolute.lifecycle import InvalidModelProperty, ModelFramework, UndefinedModelProperty

Make = Callable[..., Model]


class TestProperties:
    def test_a_new_model_is_untrained_and_has_a_revision(self, make: Make) -> None:
        first, second = make(), make()

        assert first.state == "untrained"
        assert first.revision != second.revision
        assert (first.id, first.name, first.version) == ("dev/mnist", "MNIST", "0.0.1")
        assert repr(first) == "Model(id='dev/mnist', version='0.0.1', state='untrained')"

    @pytest.mark.parametrize("key", ["id", "name", "version", "framework", "framework_version", "main_file"])
    def test_what_is_needed_must_be_given(self, make: Make, key: str) -> None:
        with pytest.raises(UndefinedModelProperty, match=f"^{key}: not given"):
            make(**{key: ""})

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"id": "dev//mnist"}, "id: 'dev//mnist' is not a path of names"),
            ({"id": "../mnist"}, "id: '../mnist' is not a path of names"),
            ({"id": "2024/mnist"}, "begin with a letter"),
            ({"id": "a" * 70}, "at most 63"),
            ({"name": 7}, "name: 7 is a int; give text"),
            ({"main_file": "trainer.sh"}, "main_file: 'trainer.sh' is not a Python file"),
            ({"framework": "caffe"}, "framework: 'caffe' is unknown. Choose one of pytorch, tensorflow"),
            ({"extra_files": "model.py"}, "extra_files: 'model.py' is not a list"),
            ({"image_name": 3}, "image_name: 3 is a int"),
            ({"labels": 3}, "labels: 3 is not a list"),
            ({"serving_config": "x"}, "serving_config: 'x' is not a dictionary"),
            ({"serving_config": {"modelfile": "m.py"}}, "serving_config: unknown key 'modelfile'"),
            ({"serving_config": {"handler": 3}}, "serving_config.handler: 3 is a int"),
            ({"serving_config": {"protocol_version": "v3"}}, "protocol_version: 'v3'. Choose v1 or v2"),
        ],
    )
    def test_what_cannot_work_is_refused_by_name(self, make: Make, changes: dict[str, Any], sentence: str) -> None:
        with pytest.raises(InvalidModelProperty) as refused:
            make(**changes)

        assert sentence in str(refused.value)
        assert isinstance(refused.value, ResoluteError)

    @pytest.mark.parametrize(
        ("word", "framework"),
        [("tf", "TENSORFLOW"), ("PyTorch", "PYTORCH"), ("torch", "PYTORCH"), ("scikit-learn", "SKLEARN")],
    )
    def test_frameworks_have_nicknames(self, make: Make, word: str, framework: str) -> None:
        assert make(framework=word).framework is ModelFramework[framework]

    def test_labels_may_be_a_list_or_pairs(self, make: Make) -> None:
        assert make(labels=["a"]).meta()["labels"] == {"a": ""}
        assert make(labels={"team": "sea"}).meta()["labels"] == {"team": "sea"}

    def test_extra_files_for_serving_may_be_written_with_commas(self, make: Make) -> None:
        made = make(serving_config={"model_file": "m.py", "handler": "h", "extra_files": "a.json, b.txt"})

        assert made.meta()["serving_config"]["extra_files"] == ["a.json", "b.txt"]


class TestImages:
    def test_nothing_is_built_and_that_is_said(self, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
        assert model.build() is True
        assert "Skipping image build" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("name", "image"),
        [
            (None, None),
            ("lab/mnist:3", "lab/mnist:3"),
            ("lab/mnist", "lab/mnist:dev-mnist-pytorch-2.0"),
            ("host:5000/mnist", "host:5000/mnist:dev-mnist-pytorch-2.0"),
        ],
    )
    def test_a_tag_that_is_left_out_says_what_the_model_is(
        self, make: Make, name: str | None, image: str | None
    ) -> None:
        assert make(image_name=name, base_image="base:1").meta()["image"] == image


class TestNames:
    def test_a_service_is_named_after_the_model(self) -> None:
        assert sanitize("dev/mnist") == "dev-mnist"
        assert sanitize("Dev/My_Model.v2") == "dev-my-model-v2"

    def test_jobs_carry_the_beginning_of_the_token(self) -> None:
        assert job_name("MNIST", "de194a8f" + "0" * 24, kind="pytorchjob") == "mnist-pytorchjob-de194a8f"
        assert job_name("!!", "de194a8f", kind="job") == "model-job-de194a8f"

    def test_a_trial_keeps_its_name_and_no_two_share_one(self) -> None:
        names = {trial_name("mnist-tune-14c4431d", number) for number in range(200)}

        assert len(names) == 200
        assert trial_name("mnist-tune-14c4431d", 3) in names
        assert all(len(name) == len("mnist-tune-14c4431d-wttgxggg") for name in names)
