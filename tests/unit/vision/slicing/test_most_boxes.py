"""However much a detector finds, so many boxes are held and no more; what is given up is counted."""

import json
from pathlib import Path

import numpy as np
import pytest
import rasterio

from resolute.imagery.georeference import read_georeference
from resolute.vision.detections import Detections
from resolute.vision.fake import FakeDetector
from resolute.vision.geo import to_geojson
from resolute.vision.prediction import Outcome, PredictJob, predict_files
from resolute.vision.slicing import Regions, find_regions
from resolute.vision.slicing.found import Found
from resolute.vision.slicing.regions import Patch

RNG = np.random.default_rng(0)
NOISE = RNG.integers(0, 256, (256, 256, 3), dtype=np.uint8)


def some(scores: np.ndarray) -> Detections:
    corners = np.arange(len(scores), dtype=np.float32)[:, None] + np.array([0, 0, 1, 1], np.float32)
    return Detections(corners, scores, np.ones(len(scores), np.int64))


def test_the_best_of_all_windows_are_kept_and_the_rest_is_counted() -> None:
    # Few different scores: of equal ones the first stay.
    windows = [RNG.integers(0, 9, 70).astype(np.float32) / 10 for _ in range(40)]
    found, held = Found(most=100), []

    for number, scores in enumerate(windows):
        patches = [Patch(number, row, np.zeros((0, 0), dtype=bool)) for row in range(70)]
        found.add(some(scores), (np.full((70, 4), number, np.float32), patches))
        held.append(len(found))
    boxes, scores, labels, patches = found.columns()

    every = np.concatenate(windows)
    best = np.sort(np.argsort(-every, kind="stable")[:100])
    assert max(held) <= 200
    assert scores.tolist() == every[best].tolist()
    assert boxes[:, 0].tolist() == [patch.x for patch in patches] == (best // 70).tolist()
    assert [patch.y for patch in patches] == (best % 70).tolist()
    assert (len(labels), found.left_out) == (100, 2700)


def test_noise_is_joined_from_the_best_boxes_alone() -> None:
    steps: list[str] = []

    found = find_regions(FakeDetector(), NOISE, slice_size=64, most_boxes=500, on_step=steps.append)
    whole = find_regions(FakeDetector(), NOISE, slice_size=64)

    assert steps[-1] == "joining 500 boxes"
    assert len(found) <= 500 < len(whole)
    assert found.left_out > 10_000
    assert whole.left_out == 0


def test_an_outcome_says_how_many_were_left_out() -> None:
    none = np.zeros(0, np.float32)
    found = Regions(9, 9, none.reshape(-1, 4), none, none.astype(np.int64), left_out=1234)

    outcome = Outcome(image=Path("noise.tif"), found=found)

    assert outcome.as_dict()["left_out"] == 1234
    assert "noise.tif has more than 500,000 detections before joining; the 1,234 with" in (outcome.warning() or "")
    assert Outcome(image=Path("a.tif"), problem="cut off").warning() is None


@pytest.mark.parametrize("crs", [None, "EPSG:32633"])
def test_geojson_that_is_written_piece_by_piece_is_the_whole(tmp_path: Path, crs: str | None) -> None:
    path, place = tmp_path / "noise.tif", rasterio.Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000)
    with rasterio.open(
        path, "w", driver="GTiff", width=256, height=256, count=3, dtype="uint8", crs=crs, transform=place
    ) as file:
        file.write(NOISE.transpose(2, 0, 1))

    (outcome,) = predict_files(
        FakeDetector(), PredictJob(images=[path], output_dir=tmp_path / "out", writes_geojson=True)
    )

    assert outcome.geojson is not None
    assert outcome.found is not None
    written = json.loads(outcome.geojson.read_text())
    georeference = read_georeference(path)
    assert written == to_geojson(outcome.found, outcome.classes, georeference, image="noise.tif")
    assert len(written["features"]) == len(outcome.found) > 1000
    assert [file.suffix for file in (tmp_path / "out").iterdir()].count(".part") == 0
