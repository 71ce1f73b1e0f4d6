"""Large images: windows, seams, memory."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import cv2
import numpy as np
import pytest
import rasterio
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from rasterio.windows import Window as GdalWindow

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.grid import Grid
from resolute.vision.fake import FakeDetector
from resolute.vision.slicing import MergeSettings, Regions, find_regions, predict_large
from resolute.vision.slicing.regions import Patch

Picture = NDArray[np.uint8]
Rectangle = tuple[int, int, int, int]


def _picture(width: int, height: int, rectangles: list[Rectangle], channel: int = 0) -> Picture:
    picture = np.zeros((height, width, 3), dtype=np.uint8)
    for x1, y1, x2, y2 in rectangles:
        picture[y1:y2, x1:x2, channel] = 255
    return picture


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.integers(40, 90), st.integers(64, 200), st.integers(64, 200))
def test_objects_on_seams_come_back_whole(seed: int, slice_size: int, width: int, height: int) -> None:
    rng = np.random.default_rng(seed)
    # One object in every cell of a coarse grid, none touching another.
    rectangles = [
        (x + 2, y + 2, x + 2 + int(rng.integers(4, 17)), y + 2 + int(rng.integers(4, 17)))
        for x in range(0, width - 22, 22)
        for y in range(0, height - 22, 22)
    ]

    # Half of every window is overlap, so each object lies whole in one of them and its pieces join it.
    found = predict_large(
        FakeDetector(), _picture(width, height, rectangles), slice_size=slice_size, overlap=0.5, full_image=False
    )

    assert sorted(map(tuple, found.boxes.astype(int).tolist())) == sorted(rectangles)


def test_detections_are_those_of_the_tiles_moved_to_their_place(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    picture = cv2.GaussianBlur(rng.integers(0, 256, (210, 333, 3), dtype=np.uint8), (0, 0), 3)
    picture = np.clip((picture.astype(float) - 128) * 6 + 128, 0, 255).astype(np.uint8)
    cv2.imwrite(str(tmp_path / "big.png"), picture[:, :, ::-1])
    detector = FakeDetector()

    # A threshold of 1 joins only boxes that lie wholly in one another; here none are joined, so tiles can be compared.
    found = predict_large(
        detector,
        tmp_path / "big.png",
        slice_size=64,
        overlap=0.0,
        full_image=False,
        merging=MergeSettings(method="nms", metric="iou", threshold=1.0),
    )

    expected = []
    for window in Grid(333, 210, 64, 0.0).windows():
        (tile,) = detector.detect([picture[window.y1 : window.y2, window.x1 : window.x2]])
        expected += [
            (label, *(box + np.array([*window[:2], *window[:2]])).tolist())
            for label, box in zip(tile.labels.tolist(), tile.boxes, strict=True)
        ]
    assert len(found) > 50
    assert {(label, *box.tolist()) for label, box in zip(found.labels.tolist(), found.boxes, strict=True)} == set(
        expected
    )


def test_windows_go_to_the_detector_in_batches() -> None:
    detector, progress = FakeDetector(), []

    predict_large(
        detector, _picture(100, 90, []), slice_size=32, overlap=0.0, batch_size=5, on_progress=progress.append
    )

    assert detector.calls == [5, 5, 2, 1]
    assert progress == [5, 5, 2, 1]


def test_an_image_that_fits_into_a_window_is_looked_at_once() -> None:
    detector = FakeDetector()

    found = predict_large(detector, _picture(60, 50, [(10, 10, 20, 30)]), slice_size=64)

    assert detector.calls == [1]
    assert found.boxes.tolist() == [[10, 10, 20, 30]]


def test_what_is_larger_than_a_window_is_found_on_the_whole_image() -> None:
    picture = _picture(3000, 300, [(100, 100, 2800, 200)])
    nms = MergeSettings(method="nms", metric="ios")

    apart = predict_large(FakeDetector(), picture, slice_size=150, overlap=0.2, full_image=False, merging=nms)
    whole = predict_large(FakeDetector(), picture, slice_size=150, overlap=0.2)

    assert (apart.boxes[:, 2] - apart.boxes[:, 0]).max() <= 150
    assert whole.boxes[0].tolist() == pytest.approx([100, 100, 2800, 200], abs=6)


def test_masks_are_moved_and_joined_like_boxes() -> None:
    picture = _picture(200, 120, [(40, 30, 90, 60), (150, 100, 160, 110)])

    found = predict_large(FakeDetector(has_masks=True), picture, slice_size=64, overlap=0.5, full_image=False)

    assert found.masks is not None
    assert found.masks.shape == (2, 120, 200)
    assert np.array_equal(found.masks.any(axis=0), picture[:, :, 0] > 0)
    for box, mask in zip(found.boxes.astype(int).tolist(), found.masks, strict=True):
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        assert box == [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]


def test_masks_of_the_small_copy_grow_to_the_image() -> None:
    picture = _picture(2666, 200, [(200, 40, 2400, 160)])

    found = find_regions(FakeDetector(has_masks=True), picture, slice_size=160, overlap=0.2)

    assert found.patches is not None
    assert found.patches[0].mask.sum() == pytest.approx(2200 * 120, rel=0.02)


def test_masks_that_cannot_fit_into_memory_are_refused_with_what_to_do() -> None:
    patch = Patch(0, 0, np.ones((1, 1), bool))
    boxes = np.zeros((9, 4), np.float32)
    found = Regions(20_000, 20_000, boxes, np.ones(9, np.float32), np.ones(9, np.int64), [patch] * 9)

    with pytest.raises(InvalidInput, match=r"9 masks of 20000 x 20000 pixels need 3\.4 GiB. Use find_regions"):
        found.as_detections()


def test_sixteen_bit_images_are_stretched_alike_in_every_window(tmp_path: Path) -> None:
    pixels = np.zeros((3, 200, 200), dtype=np.uint16)
    pixels[0, 40:140, 40:140] = 9000
    pixels[0, 0, 0] = 100
    with rasterio.open(
        tmp_path / "deep.tif", "w", driver="GTiff", width=200, height=200, count=3, dtype="uint16",
        crs="EPSG:32633", transform=rasterio.Affine(1, 0, 500_000, 0, -1, 5_000_000),
    ) as target:  # fmt: skip
        target.write(pixels)

    found = predict_large(FakeDetector(), tmp_path / "deep.tif", slice_size=128, overlap=0.5, full_image=False)

    assert found.labels.tolist() == [1]
    assert found.boxes.tolist() == [[40, 40, 140, 140]]


def test_memory_stays_flat_on_a_huge_file(tmp_path: Path) -> None:
    side, place = 20_000, (9_990, 10_010)
    profile = {
        "driver": "GTiff", "width": side, "height": side, "count": 3, "dtype": "uint8", "crs": "EPSG:4326",
        "transform": rasterio.Affine(1e-6, 0, 10, 0, -1e-6, 50), "photometric": "RGB", "interleave": "pixel",
        "tiled": True, "blockxsize": 512, "blockysize": 512, "compress": "deflate", "SPARSE_OK": True,
    }  # fmt: skip
    with rasterio.open(tmp_path / "huge.tif", "w", **profile) as target:
        mark = np.zeros((3, 40, 60), dtype=np.uint8)
        mark[1] = 200
        target.write(mark, window=GdalWindow(*place, 60, 40))

    tracemalloc.start()
    found = predict_large(
        FakeDetector(), tmp_path / "huge.tif", slice_size=1600, overlap=0.1, batch_size=4, full_image=False
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert found.labels.tolist() == [2]
    assert found.boxes.tolist() == [[9_990, 10_010, 10_050, 10_050]]
    assert peak < 150e6, "1.2 GB of pixels were read"


PEAKS = """
import resource, sys
from resolute.vision.fake import FakeDetector
from resolute.vision.slicing import predict_large

for path in sys.argv[1:]:
    predict_large(FakeDetector(), path, slice_size=640, overlap=0.1, batch_size=4)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
def test_the_whole_process_stays_as_small_on_a_file_sixteen_times_as_large(tmp_path: Path) -> None:
    """Counted by the operating system, so that what GDAL keeps is in it, and with the look at the whole image."""
    paths = []
    for side in (4_000, 16_000):
        paths.append(str(tmp_path / f"{side}.tif"))
        profile = {
            "driver": "GTiff", "width": side, "height": side, "count": 3, "dtype": "uint8", "crs": "EPSG:4326",
            "transform": rasterio.Affine(1e-6, 0, 10, 0, -1e-6, 50), "photometric": "RGB", "interleave": "pixel",
            "tiled": True, "blockxsize": 512, "blockysize": 512, "compress": "deflate", "SPARSE_OK": True,
        }  # fmt: skip
        with rasterio.open(paths[-1], "w", **profile):
            pass

    done = subprocess.run([sys.executable, "-c", PEAKS, *paths], capture_output=True, text=True, timeout=200)

    assert done.returncode == 0, done.stderr
    small, large = (int(line) for line in done.stdout.split())
    assert large - small < 50, f"{small} MB, then {large} MB for 768 MB of pixels"


def test_a_fault_in_the_detector_ends_the_reading() -> None:
    class Broken(FakeDetector):
        def detect(self, images: object, *, score_threshold: float | None = None) -> list[object]:  # type: ignore[override]
            raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        predict_large(Broken(), _picture(100, 100, []), slice_size=20)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"slice_size": 0}, "slice size is 0"),
        ({"overlap": 1.0}, "overlap ratio is 1.0"),
        ({"batch_size": 0}, "batch size is 0"),
        ({"image": np.zeros((5, 5), np.uint8)}, r"array of uint8 with shape \(5, 5\)"),
        ({"image": np.zeros((5, 5, 3), np.float32)}, "array of float32"),
    ],
)
def test_settings_that_cannot_work_are_refused(given: dict[str, object], sentence: str) -> None:
    settings = {"image": _picture(50, 50, []), **given}

    with pytest.raises(InvalidInput, match=sentence):
        predict_large(FakeDetector(), **settings)  # type: ignore[arg-type]


def test_a_file_that_is_no_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words.png").write_text("no picture")

    with pytest.raises(InvalidInput, match=r"words\.png cannot be read"):
        predict_large(FakeDetector(), tmp_path / "words.png")
    with pytest.raises(NotFound, match=r"no image .*gone\.tif"):
        predict_large(FakeDetector(), tmp_path / "gone.tif")
