"""Where pixels come from, the fake detector, and deployments as detectors."""

import tracemalloc
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np
import pytest
import rasterio
from rasterio.enums import ColorInterp

from resolute.client.session import Session
from resolute.domain.errors import InvalidInput
from resolute.imagery.geometry import Window
from resolute.imagery.render_options import RenderOptions
from resolute.vision.detections import ClassName, Detections
from resolute.vision.fake import FakeDetector
from resolute.vision.prediction import PredictJob, count_windows, predict_files
from resolute.vision.remote import DeployedDetector
from resolute.vision.slicing import predict_large
from resolute.vision.slicing.regions import enlarged, shifted
from resolute.vision.slicing.source import open_source, whole_picture

ORDINARY = RenderOptions()


def _gradient(width: int, height: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    across = np.linspace(0, 255, width).astype(np.uint8)
    down = np.linspace(0, 255, height).astype(np.uint8)
    red, green = np.meshgrid(across, down)
    return np.dstack([red, green, np.full_like(red, 40)])


def _write_png(path: Path, picture: np.ndarray[Any, Any]) -> Path:
    cv2.imwrite(str(path), picture[:, :, ::-1])
    return path


def test_windows_of_a_file_are_those_of_its_pixels(tmp_path: Path) -> None:
    picture = _gradient(90, 60)
    places = [Window(0, 0, 40, 40), Window(50, 20, 90, 60), Window(10, 10, 11, 11)]

    from_file = list(open_source(_write_png(tmp_path / "a.png", picture), ORDINARY).windows(places))
    from_array = list(open_source(picture, ORDINARY).windows(places))

    assert all(np.array_equal(a, b) for a, b in zip(from_file, from_array, strict=True))
    assert [part.shape for part in from_file] == [(40, 40, 3), (40, 40, 3), (1, 1, 3)]


def test_a_small_copy_shows_the_whole(tmp_path: Path) -> None:
    picture = _gradient(200, 100)

    from_file = open_source(_write_png(tmp_path / "a.png", picture), ORDINARY).small(50, 25)
    from_array = open_source(picture, ORDINARY).small(50, 25)

    assert from_file.shape == from_array.shape == (25, 50, 3)
    assert np.abs(from_file.astype(int) - from_array.astype(int)).max() <= 2


def test_a_picture_is_only_made_smaller() -> None:
    picture = _gradient(200, 100)

    with whole_picture(picture, ORDINARY, max_side=400) as same, whole_picture(picture, ORDINARY, max_side=50) as small:
        assert np.array_equal(same, picture)
        assert small.shape == (25, 50, 3)


def test_grey_and_palette_images_become_colour(tmp_path: Path) -> None:
    profile = {"driver": "GTiff", "width": 40, "height": 40, "count": 1, "dtype": "uint8", "crs": "EPSG:4326",
               "transform": rasterio.Affine(2, 0, 0, 0, -2, 0)}  # fmt: skip
    pixels = np.zeros((1, 40, 40), np.uint8)
    pixels[0, 10:20, 10:30] = 3
    with rasterio.open(tmp_path / "palette.tif", "w", **profile) as target:
        target.write(pixels)
        target.write_colormap(1, {0: (0, 0, 0), 3: (0, 0, 240)})
        target.colorinterp = [ColorInterp.palette]

    found = predict_large(FakeDetector(), tmp_path / "palette.tif", slice_size=24, overlap=0.4)

    assert found.labels[0] == 3
    assert found.boxes[0].tolist() == [10, 10, 30, 20]


def test_a_file_that_ends_early_is_told_while_reading(tmp_path: Path) -> None:
    path = tmp_path / "cut.tif"
    noise = np.random.default_rng(0).integers(0, 255, (3, 400, 400), dtype=np.uint8)
    with rasterio.open(
        path, "w", driver="GTiff", width=400, height=400, count=3, dtype="uint8", tiled=True, blockxsize=64,
        blockysize=64, compress="deflate", crs="EPSG:4326", transform=rasterio.Affine(2, 0, 0, 0, -2, 0),
    ) as target:  # fmt: skip
        target.write(noise)
    path.write_bytes(path.read_bytes()[:200_000])

    with pytest.raises(InvalidInput, match=r"cut\.tif cannot be read"):
        predict_large(FakeDetector(), path, slice_size=100)


def test_shifting_moves_boxes_and_masks_alike() -> None:
    masks = np.zeros((1, 20, 20), bool)
    masks[0, 5:9, 3:7] = True
    found = Detections(np.array([[3, 5, 7, 9]], np.float32), np.ones(1, np.float32), np.ones(1, np.int64), masks)

    boxes, (patch,) = shifted(found, x=100, y=200)
    larger, (enlarged_patch,) = enlarged(found, seen=(20, 20), width=40, height=60)

    assert boxes.tolist() == [[103, 205, 107, 209]]
    assert (patch.x, patch.y, patch.mask.shape) == (103, 205, (4, 4))
    assert larger.tolist() == [[6, 15, 14, 27]]
    assert (enlarged_patch.x, enlarged_patch.y, enlarged_patch.mask.shape) == (6, 15, (12, 8))


def test_an_empty_mask_is_an_empty_patch() -> None:
    masks = np.zeros((1, 20, 20), bool)
    found = Detections(np.zeros((1, 4), np.float32), np.ones(1, np.float32), np.ones(1, np.int64), masks)

    _, (patch,) = shifted(found, x=3, y=4)
    _, (larger,) = enlarged(found, seen=(20, 20), width=40, height=40)

    assert patch.mask.size == larger.mask.size == 0


def test_the_fake_detector_tells_colours_and_brightness_apart() -> None:
    picture = np.zeros((50, 50, 3), np.uint8)
    picture[5:15, 5:25, 0] = 255
    picture[30:40, 10:20, 1] = 150
    picture[45:50, 45:50, 2] = 100

    (found,) = FakeDetector().detect([picture])
    (bright,) = FakeDetector().detect([picture], score_threshold=0.8)

    assert found.labels.tolist() == [1, 2]
    assert found.boxes.tolist() == [[5, 5, 25, 15], [10, 30, 20, 40]]
    assert bright.labels.tolist() == [1]
    assert found.masks is None


def test_the_fake_detector_gives_masks_when_it_shall() -> None:
    picture = np.zeros((30, 30, 3), np.uint8)
    picture[5:15, 5:25, 0] = picture[5:25, 5:10, 0] = 255

    (found,) = FakeDetector(has_masks=True).detect([picture])

    assert found.masks is not None
    assert np.array_equal(found.masks[0], picture[:, :, 0] > 0)


def _deployed(answer: Any) -> DeployedDetector:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=answer))
    return DeployedDetector(Session("http://fake:8080", transport=transport), "finder")


def test_names_of_a_deployment_are_numbered_as_they_are_met() -> None:
    rows = [
        {"ship": [1, 2, 3, 4], "score": 0.3},
        {"plane": [5, 6, 7, 8], "score": 0.9},
        {"ship": [0, 0, 1, 1], "score": 0.5},
    ]
    detector = _deployed({"predictions": [rows]})

    (found,) = detector.detect([np.zeros((8, 8, 3), np.uint8)], score_threshold=0.4)

    assert detector.classes == (ClassName(1, "plane"), ClassName(2, "ship"))
    assert found.labels.tolist() == [1, 2]
    assert found.scores.tolist() == pytest.approx([0.9, 0.5])
    assert found.boxes.tolist() == [[5, 6, 7, 8], [0, 0, 1, 1]]


def test_a_deployment_that_found_nothing_says_so() -> None:
    (found,) = _deployed({"predictions": [[]]}).detect([np.zeros((8, 8, 3), np.uint8)])

    assert (len(found), found.boxes.shape) == (0, (0, 4))


@pytest.mark.parametrize("row", [7, "plane", {"score": 0.5}, {"plane": [1, 2], "score": 0.5}, {"plane": [1, 2, 3, 4]}])
def test_answers_that_are_no_detections_are_told(row: Any) -> None:
    with pytest.raises(InvalidInput, match="Is it a detector"):
        _deployed({"predictions": [[row]]}).detect([np.zeros((8, 8, 3), np.uint8)])


def test_a_job_knows_its_windows_before_it_begins(tmp_path: Path) -> None:
    images = [_write_png(tmp_path / "a.png", _gradient(100, 50)), tmp_path / "gone.png"]
    job = PredictJob(images=images, output_dir=tmp_path / "out", slice_size=50, overlap=0.0)

    windows: list[int] = []
    outcomes = list(predict_files(FakeDetector(), job, windows.append))

    assert count_windows(job) == sum(windows) == 2 + 1  # The whole image, made small, counts as one.
    assert outcomes[0].problem is None
    assert "gone.png" in str(outcomes[1].problem)
    assert outcomes[1].rows() == []


def test_noise_with_an_object_at_every_pixel_does_not_fill_the_memory() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (500, 500, 3), dtype=np.uint8)
    tracemalloc.start()

    (found,) = FakeDetector().detect([noise])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len(found) > 10_000
    assert peak < 100_000_000
