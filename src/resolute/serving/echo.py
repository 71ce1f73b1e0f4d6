"""A model that answers with what it was asked: what a server adds to a request shows with nothing behind it.

`resolute serve any/path --load resolute.serving.echo:load_echo`
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resolute.domain.errors import NotSupported
from resolute.serving.model import ModelMetadata, Tensor


class Echo:
    """`delay_ms` is what every call takes, however large."""

    def __init__(self, delay_ms: float = 0) -> None:
        self.metadata = ModelMetadata(platform="echo")
        self._delay_s = delay_ms / 1000

    def predict(self, instances: Sequence[Any]) -> list[Any]:
        self._work()
        return list(instances)

    def explain(self, instances: Sequence[Any]) -> list[Any]:
        raise NotSupported("The echo has nothing to explain; ask it to predict.")

    def infer(self, requests: Sequence[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
        self._work()
        return [dict(request) for request in requests]

    def _work(self) -> None:
        if self._delay_s:
            time.sleep(self._delay_s)


def load_echo(source: Path, options: dict[str, Any]) -> Echo:
    return Echo(**options)
