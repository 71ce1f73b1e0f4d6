"""Weights come from files in any of the usual layouts; what does not fit is skipped and told; no code is run."""

import logging
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torchvision import models

from resolute.domain.errors import InvalidInput, NotFound
from resolute.vision.zoo import build_model
from resolute.vision.zoo.weights import load_weights, read_state

LITE = "ssdlite320_mobilenet_v3_large"


def layouts(state: dict[str, torch.Tensor]) -> dict[str, Any]:
    generator = {"cpu_rng_state": torch.get_rng_state(), "np": np.random.get_state()}
    return {
        "plain": state,
        "torchvision": {"model": state, "epoch": 3, "optimizer": {"param_groups": []}},
        "lightning": {"state_dict": {f"model.{name}": value for name, value in state.items()}},
        "parallel": {f"module.{name}": value for name, value in state.items()},
        "determined": {"models_state_dict": [state], "rng_state": generator},
        "trainer": {"shared": {"models": [state], "steps": 4}},
    }


@pytest.mark.parametrize("layout", ["plain", "torchvision", "lightning", "parallel", "determined", "trainer"])
def test_weights_are_found_in_the_usual_layouts(lite: nn.Module, tmp_path: Path, layout: str) -> None:
    torch.save(layouts(lite.state_dict())[layout], tmp_path / "weights.pth")
    torch.manual_seed(7)

    other = build_model(LITE, 4, min_size=96, weights=tmp_path / "weights.pth")

    for ours, theirs in zip(other.state_dict().values(), lite.state_dict().values(), strict=True):
        assert torch.equal(ours, theirs)


def test_safetensors_and_checkpoint_folders_are_read(lite: nn.Module, tmp_path: Path) -> None:
    save_file({name: value.clone() for name, value in lite.state_dict().items()}, tmp_path / "weights.safetensors")

    from_file = read_state(tmp_path / "weights.safetensors")
    from_folder = read_state(tmp_path)

    assert set(from_file) == set(from_folder) == set(lite.state_dict())


def test_a_head_for_other_classes_starts_anew_and_is_told(
    lite: nn.Module, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    torch.save(lite.state_dict(), tmp_path / "weights.pth")
    model = build_model(LITE, 9, min_size=96)

    with caplog.at_level(logging.WARNING, "resolute"):
        result = load_weights(model, tmp_path / "weights.pth")

    assert result.other_shape
    assert all("classification_head" in name for name in result.other_shape)
    assert "have another shape and start anew" in caplog.text
    assert torch.equal(
        model.state_dict()["backbone.features.0.0.0.weight"], lite.state_dict()["backbone.features.0.0.0.weight"]
    )


def test_a_classifiers_weights_become_the_backbones(tmp_path: Path) -> None:
    torch.manual_seed(3)
    classifier = models.mobilenet_v3_large(weights=None)
    torch.save(classifier.state_dict(), tmp_path / "classifier.pth")

    detector: Any = build_model(LITE, 4, min_size=96, backbone_weights=tmp_path / "classifier.pth")

    assert torch.equal(detector.backbone.features[0][0][0].weight, classifier.features[0][0].weight)


def test_pretrained_backbones_are_trained_in_their_upper_stages_by_default(tmp_path: Path) -> None:
    torch.save(models.resnet50(weights=None).state_dict(), tmp_path / "r50.pth")

    model: Any = build_model("fasterrcnn_resnet50_fpn", 3, backbone_weights=tmp_path / "r50.pth")

    assert not any(parameter.requires_grad for parameter in model.backbone.body.layer1.parameters())
    assert all(parameter.requires_grad for parameter in model.backbone.body.layer2.parameters())


def test_weights_of_another_architecture_are_refused(tmp_path: Path, lite: nn.Module) -> None:
    torch.save({"encoder.weight": torch.zeros(3)}, tmp_path / "other.pth")

    with pytest.raises(InvalidInput, match=r"holds no weight that fits .*encoder\.weight"):
        load_weights(lite, tmp_path / "other.pth", model_name=LITE)


def test_a_file_that_would_run_code_is_refused(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return print, ("it ran",)

    (tmp_path / "trap.pth").write_bytes(pickle.dumps({"model": Trap()}))

    with pytest.raises(InvalidInput, match="without running code from it"):
        read_state(tmp_path / "trap.pth")


@pytest.mark.parametrize(
    ("name", "content", "error", "sentence"),
    [
        ("missing.pth", None, NotFound, "There are no weights at"),
        ("broken.safetensors", b"not tensors", InvalidInput, "not a whole safetensors file"),
        ("text.pth", b"hello", InvalidInput, "cannot be read as weights"),
    ],
)
def test_files_that_are_no_weights_are_refused(
    tmp_path: Path, name: str, content: bytes | None, error: type[Exception], sentence: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(error, match=sentence):
        read_state(tmp_path / name)


def test_an_empty_folder_says_which_files_would_do(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"holds none of weights\.safetensors"):
        read_state(tmp_path)


def test_a_file_without_tensors_says_what_it_has(tmp_path: Path) -> None:
    torch.save({"epoch": 3, "notes": "none"}, tmp_path / "empty.pth")

    with pytest.raises(InvalidInput, match="its keys are epoch, notes"):
        read_state(tmp_path / "empty.pth")
