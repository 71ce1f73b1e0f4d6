"""An archive of a detector holds how its pixels were made, and our handler reads originals that way."""

import base64
import zipfile
from pathlib import Path

import cv2
import numpy as np
import pytest
import rasterio
import torch

from resolute.domain.errors import ResoluteError
from resolute.imagery.geometry import Window
from resolute.imagery.preprocessing import Origin, Preprocessing
from resolute.serving.export import export
from resolute.serving.loading import load_model
from resolute.vision import build_model
from resolute.vision.checkpoint import DetectorRecord, write_detector
from resolute.vision.detections import ClassName
from resolute.vision.slicing.source import open_source

pytestmark = pytest.mark.usefixtures("model_process")
NAME = "ssdlite320_mobilenet_v3_large"
TILES = Preprocessing(bands=(3, 2, 1), origins=(Origin("tiff", "uint16", 4),), tile_size=64)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    options = {"score_threshold": 0.0, "detections_per_image": 5}
    record = DetectorRecord(architecture=NAME, classes=(ClassName(1, "x"),), options=options, preprocessing=TILES)
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    write_detector(folder, record, build_model(NAME, 2, **options).state_dict())
    return folder


def original(path: Path, bands: int) -> Path:
    pixels = np.random.default_rng(0).integers(200, 3000, (bands, 64, 64), dtype=np.uint16)
    with rasterio.open(
        path, "w", driver="GTiff", width=64, height=64, count=bands, dtype="uint16", crs="EPSG:32633",
        photometric="MINISBLACK", transform=rasterio.Affine(1, 0, 500_000, 0, -1, 5_000_000),
    ) as target:  # fmt: skip
        target.write(pixels)
    return path


def test_an_archive_reads_originals_as_the_training_did(checkpoint: Path, tmp_path: Path) -> None:
    archive = export(checkpoint, "mar", tmp_path)
    raw, other = original(tmp_path / "raw.tif", 4), original(tmp_path / "other.tif", 3)
    (seen,) = open_source(raw, TILES.options).windows([Window(0, 0, 64, 64)])
    _, made = cv2.imencode(".png", seen[:, :, ::-1])

    model = load_model(archive, {})

    def answer(content: bytes) -> object:
        return model.predict([{"data": base64.b64encode(content).decode()}])

    with zipfile.ZipFile(archive) as packed:
        assert "preprocessing.json" in packed.namelist()
    assert answer(raw.read_bytes()) == answer(made.tobytes()) != [[]]
    with pytest.raises(ResoluteError, match="the model learnt from bands 3,2,1"):
        answer(other.read_bytes())
