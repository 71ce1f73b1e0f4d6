"""Hyperparameters by the names that YAML files have; all are read, none is ignored."""

from typing import Any

import pytest

from resolute.domain.errors import InvalidInput
from resolute.vision.settings import read_settings

# The hyperparameters of the tutorial's distributed experiment, as they stand there.
TUTORIAL = {
    "lr": 0.01, "momentum": 0.9, "global_batch_size": 128, "weight_decay": 1.0e-4, "gamma": 0.1, "warmup": "linear",
    "warmup_iters": 200, "warmup_ratio": 0.001, "step1": 18032, "step2": 19320, "model": "fasterrcnn_resnet50_fpn",
    "dataset_file": "coco", "backend": "aws", "data_dir": "determined-ai-coco-dataset", "masks": False,
    "num_workers": 4, "device": "cuda",
}  # fmt: skip


def test_the_tutorials_hyperparameters_are_all_taken() -> None:
    settings = read_settings(TUTORIAL)

    for name, value in TUTORIAL.items():
        assert getattr(settings, name) == value
    assert settings.milestones == (18032, 19320)


def test_other_names_for_the_same_thing_are_understood() -> None:
    settings = read_settings({"learning_rate": 0.5, "augmentation": "hflip,rot90", "aspect_ratio_group_factor": 0})

    assert settings.lr == 0.5
    assert settings.data_augmentation == ("hflip", "rot90")
    assert settings.aspect_groups == 0


def test_numbers_and_flags_may_come_as_text_and_empty_values_are_defaults() -> None:
    settings = read_settings({"weight_decay": "1e-4", "step1": "300", "masks": "false", "ema": None, "lr": None})

    assert settings.weight_decay == 1e-4
    assert settings.step1 == 300
    assert settings.masks is False
    assert settings.ema is None
    assert settings.lr == 0.02


def test_what_the_model_is_built_with_is_what_was_given() -> None:
    settings = read_settings({"min_size": 300, "anchor_sizes": [8, 16], "model_options": {"rpn_nms_thresh": 0.6}})

    assert settings.model_settings() == {
        "min_size": 300,
        "anchor_sizes": [8, 16],
        "norm": "batch",
        "rpn_nms_thresh": 0.6,
    }


@pytest.mark.parametrize(
    ("hparams", "sentence"),
    [
        ({"learning_rte": 1}, r"no hyperparameter 'learning_rte'.*Did you mean learning_rate\?"),
        ({"lr": 0.1, "learning_rate": 0.2}, "given twice"),
        ({"lr": "fast"}, "it must be a number"),
        ({"step1": 2.5}, "it must be a whole number"),
        ({"masks": "maybe"}, "it must be true or false"),
        ({"lr": 0}, "must be above 0"),
        ({"momentum": -1}, "cannot be below 0"),
        ({"backend": "ftp"}, "use one of local, aws, s3, gcs, azure, packed, fake"),
        ({"optimizer": "lion"}, "use one of sgd, adamw"),
        ({"precision": "int8"}, "use one of fp32, bf16, fp16"),
        ({"device": "tpu"}, "use one of cuda, gpu, cpu"),
        ({"bad_images": "maybe"}, "use one of refuse, skip"),
        ({"dataset_file": "voc"}, "use one of coco"),
        ({"data_augmentation": ["flip"]}, "is not known"),
        ({"tile_size": 16}, "use at least 32"),
        ({"tile_size": 300, "backend": "aws"}, "needs backend local"),
        ({"norm": "group"}, "use one of batch, frozen, sync"),
        ({"norm": "frozen", "sync_bn": True}, "frozen statistics are not shared"),
        ({"bad_batches": -1}, "bad_batches is -1; it cannot be below 0"),
    ],
)
def test_hyperparameters_that_cannot_work_are_refused_with_a_sentence(hparams: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        read_settings(hparams)
