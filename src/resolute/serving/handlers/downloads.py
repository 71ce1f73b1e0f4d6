"""Pretrained weights that model code asks for are not fetched: the archive's own weights come right after.

`resnet_fpn_backbone("resnet50", pretrained=True)` in a served model would otherwise need the internet at each start.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torchvision.models._api import WeightsEnum

_log = logging.getLogger("resolute.serving")


class NotFetched(dict[str, Any]):
    """Stands for the state dict that was not downloaded."""


@contextmanager
def without_downloads() -> Iterator[list[str]]:
    """Within, weights from the network count as None. Yields the addresses that were asked for."""
    skipped: list[str] = []

    def from_url(url: str, *_: Any, **__: Any) -> NotFetched:
        skipped.append(url)
        _log.warning("Model code asked for pretrained weights (%s): not downloaded, the archive brings its own.", url)
        return NotFetched()

    def from_enum(self: WeightsEnum, *_: Any, **__: Any) -> NotFetched:
        return from_url(self.url)

    load = nn.Module.load_state_dict

    def load_state_dict(self: nn.Module, state_dict: Any, *args: Any, **given: Any) -> Any:
        if isinstance(state_dict, NotFetched):
            return nn.modules.module._IncompatibleKeys([], [])
        return load(self, state_dict, *args, **given)

    with (
        _replaced(WeightsEnum, "get_state_dict", from_enum),
        _replaced(torch.hub, "load_state_dict_from_url", from_url),
        _replaced(nn.Module, "load_state_dict", load_state_dict),
    ):
        yield skipped


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
