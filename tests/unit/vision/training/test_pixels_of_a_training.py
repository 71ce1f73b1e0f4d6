"""How pixels were made is part of a trained detector: in its checkpoint, in what is exported, and in what is served."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio

from resolute.domain.errors import InvalidInput
from resolute.imagery.preprocessing import Origin, Preprocessing, write_record
from resolute.imagery.render_options import StretchKind
from resolute.serving.export import export
from resolute.serving.loading import load_model
from resolute.vision import load_detector
from resolute.vision.checkpoint import read_record
from resolute.vision.trial import DetectionTrial

Fit = Callable[..., DetectionTrial]
TILES = Preprocessing(
    bands=(3, 2, 1), stretch=StretchKind.PERCENTILE, origins=(Origin("tiff", "uint16", 4),), tile_size=64, overlap=0.2
)


def trained(fit: Fit, folder: str, **hparams: Any) -> Path:
    trial = fit("run", 1, backend="local", data_dir=folder, num_classes=None, **hparams)
    assert trial.splits.preprocessing is not None
    return max((Path(folder).parent / "run" / "checkpoints").iterdir())


def scene(path: Path, side: int = 64) -> Path:
    """Four bands of 16 bits, as the tiles' originals had."""
    pixels = np.random.default_rng(0).integers(200, 3000, (4, side, side), dtype=np.uint16)
    with rasterio.open(
        path, "w", driver="GTiff", width=side, height=side, count=4, dtype="uint16", crs="EPSG:32633",
        transform=rasterio.Affine(1, 0, 500_000, 0, -1, 5_000_000),
    ) as target:  # fmt: skip
        target.write(pixels)
    return path


def test_a_checkpoint_says_how_its_pixels_were_made(fit: Fit, write_set: Callable[..., str]) -> None:
    folder = write_set([(64, 64)] * 4)
    for split in ("train", "val"):
        write_record(Path(folder) / f"{split}_images", TILES)

    made = load_detector(trained(fit, folder)).preprocessing

    assert made is not None
    assert (made.options, made.origins, made.tile_size) == (TILES.options, TILES.origins, 64)
    assert made.scale == pytest.approx(1 / 255)
    assert made.mean == pytest.approx((0.5, 0.5, 0.5))
    assert made.spread == pytest.approx((0.5, 0.5, 0.5))


def test_a_training_on_originals_says_how_they_were_read(fit: Fit, write_set: Callable[..., str]) -> None:
    folder = write_set([(64, 64)] * 4)

    made = read_record(trained(fit, folder, stretch="minmax", tile_size=48)).preprocessing

    assert made is not None
    assert (made.stretch, made.tile_size, made.origins) == (StretchKind.MINMAX, 48, (Origin("png", "uint8", 3),))


def test_splits_that_were_made_differently_are_not_trained_with(fit: Fit, write_set: Callable[..., str]) -> None:
    folder = write_set([(64, 64)] * 4)
    write_record(Path(folder) / "train_images", TILES)

    with pytest.raises(InvalidInput, match=r"train.json and .*val.json were made differently: bands 3,2,1 and by"):
        trained(fit, folder)


def test_bands_of_prepared_tiles_cannot_be_chosen_again(fit: Fit, write_set: Callable[..., str]) -> None:
    folder = write_set([(64, 64)] * 4)
    for split in ("train", "val"):
        write_record(Path(folder) / f"{split}_images", TILES)

    with pytest.raises(InvalidInput, match="prepared already"):
        trained(fit, folder, bands="1,2,3")


@pytest.mark.parametrize(
    ("hparams", "sentence"),
    [
        ({"bands": "red"}, "bands is 'red'; give numbers"),
        ({"percentiles": [1]}, "percentiles is .1.0,.; give 2 numbers"),
        ({"stretch": "wide"}, "stretch is 'wide'; use one of auto, none, minmax, percentile"),
        ({"limits": [9, 3]}, "The second must be above the first"),
        ({"bands": [3, 2, 1], "backend": "aws", "data_dir": "b"}, "are for original images in a folder"),
    ],
)
def test_pixels_that_cannot_be_meant_are_refused(built: Fit, hparams: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        built(**{"backend": "local", **hparams})


def test_a_served_and_an_exported_detector_read_originals_as_its_training_did(
    fit: Fit, write_set: Callable[..., str], tmp_path: Path
) -> None:
    folder = write_set([(64, 64)] * 4)
    for split in ("train", "val"):
        write_record(Path(folder) / f"{split}_images", TILES)
    checkpoint = trained(fit, folder)
    raw = {"data": base64.b64encode(scene(tmp_path / "raw.tif").read_bytes()).decode()}
    deep = Path(write_other(tmp_path / "other.tif")).read_bytes()
    options = {"score_threshold": 0.0}

    for place in (checkpoint, export(checkpoint, "torchscript", tmp_path)):
        model = load_model(place, options)
        by_file = model.predict([raw])[0]
        (found,) = model.infer([{"image": np.array([(tmp_path / "raw.tif").read_bytes()], dtype=object)}])

        assert model.metadata.extra["preprocessing"]["bands"] == [3, 2, 1]
        assert [row["score"] for row in by_file] == pytest.approx(found["scores"].tolist())
        with pytest.raises(InvalidInput, match=r"instance 0 has 3 band\(s\) of uint16, but the model learnt from"):
            model.predict([{"data": base64.b64encode(deep).decode()}])


def write_other(path: Path) -> Path:
    with rasterio.open(
        path, "w", driver="GTiff", width=32, height=32, count=3, dtype="uint16", crs="EPSG:32633",
        transform=rasterio.Affine(1, 0, 500_000, 0, -1, 5_000_000),
    ) as target:  # fmt: skip
        target.write(np.full((3, 32, 32), 700, np.uint16))
    return path
