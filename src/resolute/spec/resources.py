"""How many slots and where: what a user may write under `resources`. Places nothing."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

from resolute.domain.job import DEFAULT_WEIGHT
from resolute.spec.environment import Device, device_of
from resolute.spec.section import Number, Section, Slots, fault

_SIZE = re.compile(r"(\d*\.?\d+) ?(?:([kmgtp])(i?b)?|b)?", re.IGNORECASE)
_EXPONENTS = " kmgtp"


def _bytes(value: object) -> object:
    """`2g`, `512 MiB` or a number, in bytes. Prefixes count in 1024s, as containers do."""
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise fault(f'"{value}" is not a size; write for example 2g, 512m or a number of bytes')
    exponent = _EXPONENTS.index((match[2] or " ").lower())
    return int(float(match[1]) * 1024**exponent)


class _Shared(Section):
    """Keys of experiments and tasks alike."""

    resource_pool: str = ""
    priority: Annotated[int, Field(ge=1, le=99)] | None = None
    weight: Annotated[Number, Field(gt=0)] = DEFAULT_WEIGHT
    shm_size: Annotated[int, BeforeValidator(_bytes), Field(ge=0)] | None = None
    devices: list[Annotated[Device, BeforeValidator(device_of)]] = Field(default_factory=list)
    agent_label: str | None = None


class Resources(_Shared):
    slots_per_trial: Slots = 1
    slots: Slots | None = None
    max_slots: Slots | None = None
    native_parallel: bool = False
    is_single_node: bool | None = None


class TaskResources(_Shared):
    slots: Slots = 1
    is_single_node: bool | None = None
    max_slots: Slots | None = None
