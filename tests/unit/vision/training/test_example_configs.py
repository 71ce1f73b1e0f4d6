"""The example's configurations say what the trainer understands."""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from resolute.vision.settings import read_settings
from resolute.vision.zoo import build_model, model_names

EXAMPLE = Path(__file__).parents[4] / "examples" / "xview"


def config(name: str) -> dict[str, Any]:
    return dict(YAML(typ="safe").load((EXAMPLE / name).read_text()))


@pytest.mark.parametrize("name", ["const.yaml", "distributed.yaml"])
def test_hyperparameters_of_an_example_are_all_understood(name: str) -> None:
    given = config(name)

    settings = read_settings(given["hyperparameters"])

    assert settings.model in model_names()
    assert given["searcher"]["metric"] == "mAP"
    assert given["searcher"]["smaller_is_better"] is False


def test_the_search_tries_eight_architectures_that_there_are() -> None:
    given = config("search.yaml")["hyperparameters"]

    names = given.pop("model")["vals"]
    read_settings(given)

    assert len(names) == 8
    assert set(names) <= set(model_names())


def test_the_small_example_builds() -> None:
    settings = read_settings(config("const.yaml")["hyperparameters"])

    model: Any = build_model(settings.model, 4, **settings.model_settings())

    assert model.transform.fixed_size == (160, 160)
    assert model.anchor_generator.scales[0] == pytest.approx(24 / 160)
