"""A setting that means less here than it says is told in one sentence."""

from typing import Any

import pytest

from resolute.domain.errors import InvalidInput
from resolute.vision.advice import advice, check_compiler
from resolute.vision.settings import read_settings


@pytest.mark.parametrize(
    ("hparams", "sentence"),
    [
        ({"sync_bn": True}, "one slot, which has nothing to share"),
        ({"norm": "sync"}, "one slot, which has nothing to share"),
        ({"device": "cuda"}, "torch sees no GPU here"),
        ({"precision": "bf16"}, "most CPUs are slower with it"),
        ({"compile": True}, "compiled for this CPU at the first batch"),
        ({"fast": True}, "made for GPUs"),
        ({"augment_on": "gpu"}, "augmented on the CPU"),
    ],
)
def test_what_a_cpu_makes_of_a_setting_is_said(hparams: dict[str, Any], sentence: str) -> None:
    (found,) = advice(read_settings(hparams), "cpu", 1)

    assert sentence in found


def test_there_is_nothing_to_say_where_settings_mean_what_they_say() -> None:
    everything = {"sync_bn": True, "device": "cuda", "precision": "bf16", "compile": True, "fast": True}

    assert advice(read_settings(everything), "cuda", 2) == []
    assert advice(read_settings({"sync_bn": True}), "cpu", 2) == []
    assert advice(read_settings({}), "cpu", 1) == []


@pytest.mark.parametrize("searcher", [{"metric": "mAP"}, {"metric": "mask_mAP_50", "smaller_is_better": True}])
def test_a_search_for_the_least_map_is_told(searcher: dict[str, Any]) -> None:
    (found,) = advice(read_settings({}), "cpu", 1, searcher)

    assert f"more {searcher['metric']} is better" in found
    assert "Set it to false" in found


@pytest.mark.parametrize("searcher", [{"metric": "mAP", "smaller_is_better": False}, {"metric": "loss"}, {}])
def test_a_search_in_the_right_direction_gets_no_advice(searcher: dict[str, Any]) -> None:
    assert advice(read_settings({}), "cpu", 1, searcher) == []


def test_compiling_without_a_compiler_is_refused_before_the_first_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")

    with pytest.raises(InvalidInput, match=r"none of no-such-compiler is here. Install one"):
        check_compiler()
