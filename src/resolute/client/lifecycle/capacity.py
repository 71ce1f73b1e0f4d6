"""What the cluster has against what is asked: refused before anything is created when it could never start. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from resolute.client.lifecycle.faults import ModelValidationException

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    slots: int
    gpus: int

    @classmethod
    def of(cls, agents: Sequence[Json]) -> "Capacity | None":
        """None where no node is known yet, as on engines that start them on demand."""
        if not agents:
            return None
        slots = [
            slot
            for agent in agents
            if agent.get("enabled", True)
            for slot in (agent.get("slots") or {}).values()
            if slot.get("enabled", True)
        ]
        gpus = [slot for slot in slots if "CPU" not in str((slot.get("device") or {}).get("type", "CPU")).upper()]
        return cls(slots=len(slots), gpus=len(gpus))

    def check(self, workers: int, gpus: int) -> int:
        """Slots of one run. Raises ModelValidationException when they can never be there."""
        slots = slots_of(workers, gpus)
        if gpus and self.gpus < slots:
            raise ModelValidationException(
                f"gpus: {workers} workers with {gpus} GPUs each need {slots} GPU slots; the cluster has {self.gpus}. "
                "Lower gpus or workers."
            )
        if slots > self.slots:
            raise ModelValidationException(
                f"workers: {workers} workers need {slots} slots; the cluster has {self.slots}, so they would wait for "
                f"ever. Use at most {self.slots // max(gpus, 1)} workers, or add nodes."
            )
        return slots

    def parallel(self, wanted: int, slots: int) -> int:
        """How many runs of so many slots fit at once."""
        return max(min(wanted, self.slots // max(slots, 1)), 1)


def slots_of(workers: int, gpus: int) -> int:
    return workers * max(gpus, 1)


def check_count(key: str, value: Any, *, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ModelValidationException(f"{key}: {value!r}. Give a whole number from {least}.")
    return value
