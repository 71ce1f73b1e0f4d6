"""Pictures out of packed sets (`resolute data pack`): whole shards are fetched into a cache and read from there."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from resolute.domain.errors import InvalidInput
from resolute.imagery import coco
from resolute.imagery.preprocessing import Preprocessing, from_dict
from resolute.imagery.shards.reader import ShardReader
from resolute.vision.data.labels import Sample
from resolute.vision.data.sources import Pixels, decoded

_GIGABYTE = 10**9


class PackedImages:
    """`ImageSource` over shards. Copies in worker processes share the cache on the disk."""

    def __init__(self, address: str, *, cache: Path, cache_gb: float) -> None:
        self._address = address
        self._reader = ShardReader(address, cache=cache, cache_bytes=int(cache_gb * _GIGABYTE))
        self._places = {sample.file_name: place for place, sample in enumerate(self._reader.index.samples)}

    def labels(self) -> coco.Dataset:
        return self._reader.annotations()

    def has(self, sample: Sample) -> bool:
        return sample.file_name in self._places

    def read(self, sample: Sample) -> Pixels:
        if sample.window is not None:
            raise InvalidInput(
                f"{self._address}: packed images cannot be tiled while training. "
                "Tile them first with `resolute data tile`, then pack the tiles."
            )
        content = self._reader.read(self._places[sample.file_name])
        return decoded(content, f"{self._address}/{sample.file_name}")

    def preprocessing(self, samples: Sequence[Sample]) -> Preprocessing | None:
        return from_dict(self._reader.index.preprocessing, f"{self._address}/index.json")

    def shards_of(self, samples: Sequence[Sample]) -> NDArray[np.int64]:
        """In which shard each sample lies."""
        stored = self._reader.index.samples
        return np.array([stored[self._places[sample.file_name]].shard for sample in samples], dtype=np.int64)

    def plan(self, samples: Sequence[Sample]) -> None:
        """What will be asked for, in this order: shards are fetched before they are needed."""
        self._reader.plan([self._places[sample.file_name] for sample in samples])

    def close(self) -> None:
        self._reader.close()


def cache_folder(given: str) -> Path:
    """`given`, else RESOLUTE_CACHE, else the user's own cache folder."""
    base = given or os.environ.get("RESOLUTE_CACHE") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "resolute-shards"
