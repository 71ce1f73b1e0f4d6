"""Amounts as Kubernetes spells them, and what a cluster has against what is asked."""

from typing import Any

import pytest

from resolute.client.lifecycle.capacity import Capacity, check_count
from resolute.client.lifecycle.quantity import check_cpu, check_memory, requested
from resolute.lifecycle import InvalidModelProperty, ModelValidationException, Resources


class TestAmounts:
    @pytest.mark.parametrize(("text", "amount"), [("1", 1.0), ("500m", 0.5), (2, 2.0), (1.5, 1.5), (None, None)])
    def test_processors(self, text: Any, amount: float | None) -> None:
        assert check_cpu(text) == amount

    @pytest.mark.parametrize(
        ("text", "amount"),
        [("2G", 2 * 10**9), ("512Mi", 512 << 20), ("1k", 1000), ("4GB", 4 * 10**9), (1024, 1024), ("1.5Gi", 3 << 29)],
    )
    def test_memory(self, text: Any, amount: int) -> None:
        assert check_memory(text) == amount

    @pytest.mark.parametrize("text", ["one", "", "-1", "0", True, "1 cpu"])
    def test_no_amount_is_refused_with_an_example(self, text: Any) -> None:
        with pytest.raises(InvalidModelProperty, match='Write for example "1" or "500m"'):
            check_cpu(text)
        with pytest.raises(InvalidModelProperty, match='Write for example "2G" or "512Mi"'):
            check_memory(text)

    def test_an_amount_is_request_and_limit_at_once(self) -> None:
        claim = requested(1, "1", "2G", None)

        assert claim == Resources(
            cpu_request="1", cpu_limit="1", memory_request="2G", memory_limit="2G", gpu_request=1, gpu_limit=1
        )
        assert claim.gpus == 1

    def test_resources_exclude_single_amounts(self) -> None:
        with pytest.raises(ModelValidationException, match="cpu, memory and resources were given; keep one"):
            requested(None, "1", "2G", Resources(cpu_request="1"))

    def test_resources_travel_without_what_was_not_given(self) -> None:
        assert requested(None, None, None, Resources(gpu_limit=2)).as_data() == {"gpu_limit": 2}

    @pytest.mark.parametrize("gpus", [-1, 1.5, True, "1"])
    def test_gpus_are_counted(self, gpus: Any) -> None:
        with pytest.raises(InvalidModelProperty, match="is not a number of GPUs"):
            requested(gpus, None, None, None)

    def test_other_things_are_no_resources(self) -> None:
        with pytest.raises(InvalidModelProperty, match="is not a Resources"):
            requested(None, None, None, {"cpu": 1})  # type: ignore[arg-type]


class TestCapacity:
    def agents(self, *slots: tuple[str, bool], enabled: bool = True) -> list[dict[str, Any]]:
        listed = {str(n): {"device": {"type": kind}, "enabled": is_on} for n, (kind, is_on) in enumerate(slots)}
        return [{"enabled": enabled, "slots": listed}]

    def test_only_what_is_enabled_counts(self) -> None:
        agents = self.agents(("TYPE_CPU", True), ("TYPE_CUDA", True), ("TYPE_CUDA", False))

        assert Capacity.of(agents) == Capacity(slots=2, gpus=1)
        assert Capacity.of(self.agents(("TYPE_CPU", True), enabled=False)) == Capacity(slots=0, gpus=0)
        assert Capacity.of([]) is None

    def test_workers_that_never_fit_are_refused(self) -> None:
        with pytest.raises(ModelValidationException, match="3 workers need 3 slots; the cluster has 2"):
            Capacity(slots=2, gpus=0).check(3, 0)

    def test_gpus_must_be_there(self) -> None:
        with pytest.raises(ModelValidationException, match="need 4 GPU slots; the cluster has 2"):
            Capacity(slots=8, gpus=2).check(2, 2)

    def test_what_fits_is_told_in_slots(self) -> None:
        assert Capacity(slots=8, gpus=8).check(2, 3) == 6

    @pytest.mark.parametrize(("wanted", "slots", "fits"), [(4, 2, 4), (6, 2, 4), (2, 8, 1), (1, 1, 1)])
    def test_as_many_trials_at_once_as_fit(self, wanted: int, slots: int, fits: int) -> None:
        assert Capacity(slots=8, gpus=0).parallel(wanted, slots) == fits

    @pytest.mark.parametrize("value", [0, -1, 1.5, "2", True, None])
    def test_a_count_is_a_whole_number(self, value: Any) -> None:
        with pytest.raises(ModelValidationException, match=r"workers: .*Give a whole number from 1"):
            check_count("workers", value)
