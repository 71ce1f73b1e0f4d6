"""Pictures whose heads lie are read or refused with a sentence, and nobody takes them at their word."""

import base64
import json
import tempfile
import tracemalloc
from pathlib import Path

import pytest

from resolute.domain.errors import ResoluteError
from resolute.imagery.geometry import Window
from resolute.imagery.raster import image_size, open_raster

CORPUS = json.loads((Path(__file__).parents[2] / "corpus" / "rasters.json").read_text())
MOST_BYTES = 64 << 20


def read(content: bytes, suffix: str) -> None:
    """As tools do: its size, then a corner of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"any{suffix}"
        path.write_bytes(content)
        try:
            image_size(path)
            with open_raster(path) as raster:
                corner = Window(0, 0, min(8, raster.width), min(8, raster.height))
                assert raster.read(corner).shape[:2] == (corner.height, corner.width)
        except ResoluteError as refusal:
            assert "Traceback" not in str(refusal)  # noqa: PT017


@pytest.mark.parametrize("row", CORPUS, ids=[row["name"] for row in CORPUS])
def test_each_row_of_the_corpus_is_read_or_refused_without_taking_what_it_claims(row: dict[str, str]) -> None:
    tracemalloc.start()
    try:
        read(base64.b64decode(row["base64"]), row["suffix"])
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert most < MOST_BYTES
