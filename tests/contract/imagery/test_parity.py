"""Parity: the original scripts with SAHI 0.11.14, by values they gave once and, where it is installed, by running it.

Set RESOLUTE_SAHI_PYTHON to a Python that has sahi 0.11.14 to run the second half.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from resolute.imagery import coco
from resolute.imagery.convert import ConvertJob, convert_labels
from resolute.imagery.rgb import RgbJob, convert_to_rgb
from resolute.imagery.synth.make import SynthJob, make_set
from resolute.imagery.tile import TileJob, tile_set

SAHI = os.environ.get("RESOLUTE_SAHI_PYTHON", "")
LABELS: list[tuple[str, int, Any]] = [
    ("5.tif", 11, "10,20,40,60"),
    ("5.tif", 18, "290,280,310,320"),
    ("5.tif", 73, "20,20,630,330"),
    ("5.tif", 73, "690,640,760,700"),
    ("5.tif", 12, "80,80,60,90"),
    ("5.tif", 75, "1,1,9,9"),
    ("5.tif", 13, "50,50,50,70"),
    ("5.tif", 15, "-10,100,30,140"),
    ("5.tif", 15, "1,2,3"),
    ("8.tif", 94, "100,100,150,130"),
    ("11.tif", 82, "5,5,9,9"),
    ("14.tif", 11, "0,0,299,200"),
    ("1395.tif", 11, "1,1,9,9"),
    ("17.tif", 18, []),
]
SIZES = {5: (700, 650), 8: (301, 301), 11: (320, 240), 14: (299, 200), 17: (300, 300)}


@pytest.fixture
def converted(tmp_path: Path) -> Path:
    """The folder with `train.json` and `val.json` of the set above; pictures are in `png`."""
    for folder in ("tif", "png"):
        (tmp_path / folder).mkdir()
    for number, (width, height) in SIZES.items():
        (tmp_path / "tif" / f"{number}.tif").touch()
        x, y = np.meshgrid(np.arange(width), np.arange(height))
        picture = np.stack([(x * 7 + y * 3) % 256, (x + y * 5) % 256, (x * y // 16) % 256], axis=2)
        cv2.imwrite(str(tmp_path / "png" / f"{number}.png"), picture.astype(np.uint8))
    features = [
        {"properties": {"bounds_imcoords": bounds, "image_id": image, "type_id": kind}}
        for image, kind, bounds in LABELS
    ]
    (tmp_path / "labels.geojson").write_text(json.dumps({"features": features}))
    job = ConvertJob(
        images_dir=tmp_path / "tif",
        rgb_dir=tmp_path / "png",
        geojson_path=tmp_path / "labels.geojson",
        output_dir=tmp_path,
        is_parity=True,
    )
    convert_labels(job)
    return tmp_path


def images(path: Path) -> list[tuple[int, str, int, int]]:
    return [(image.id, image.file_name, image.width, image.height) for image in coco.read(path).images]


def labels(path: Path) -> list[tuple[int, int, int, list[float], float]]:
    return [(a.id, a.image_id, a.category_id, a.bbox, a.area) for a in coco.read(path).annotations]


def tiled(folder: Path, side: str, *, keeps_negatives: bool = False) -> Path:
    job = TileJob(
        image_dir=folder / "png",
        labels_path=folder / f"{side}.json",
        output_dir=folder / "out",
        is_parity=True,
        keeps_negatives=keeps_negatives,
        workers=1,
    )
    return tile_set(job).labels_path


def test_the_split_has_the_originals_images_ids_and_boxes(converted: Path) -> None:
    assert images(converted / "train.json") == [
        (1, "11.png", 320, 240),
        (2, "14.png", 299, 200),
        (3, "8.png", 301, 301),
    ]
    assert images(converted / "val.json") == [(1, "5.png", 700, 650)]
    assert labels(converted / "train.json") == [
        (1, 2, 0, [0.0, 0.0, 299.0, 200.0], 59800),
        (2, 3, 59, [100.0, 100.0, 50.0, 30.0], 1500),
    ]
    assert labels(converted / "val.json") == [
        (1, 1, 0, [10.0, 20.0, 30.0, 40.0], 1200),
        (2, 1, 5, [290.0, 280.0, 20.0, 40.0], 800),
        (3, 1, 48, [20.0, 20.0, 610.0, 310.0], 189100),
        (4, 1, 48, [690.0, 640.0, 70.0, 60.0], 4200),
        (5, 1, 1, [60.0, 80.0, 20.0, 10.0], 200),
        (6, 1, 3, [-10.0, 100.0, 40.0, 40.0], 1600),
    ]


def test_tiles_have_the_originals_names_and_ids_that_skip_negatives(converted: Path) -> None:
    assert images(tiled(converted, "train")) == [
        (1, "14_0_0_299_200.jpg", 299, 200),
        (2, "8_0_0_300_300.jpg", 300, 300),
        (3, "8_1_0_301_300.jpg", 300, 300),
        (4, "8_0_1_300_301.jpg", 300, 300),
        (5, "8_1_1_301_301.jpg", 300, 300),
    ]
    assert [name for _, name, _, _ in images(tiled(converted, "val"))] == [
        "5_0_0_300_300.jpg",
        "5_240_0_540_300.jpg",
        "5_400_0_700_300.jpg",
        "5_0_240_300_540.jpg",
        "5_240_240_540_540.jpg",
        "5_400_240_700_540.jpg",
    ]


def test_tiles_have_the_originals_boxes(converted: Path) -> None:
    assert labels(tiled(converted, "val")) == [
        (1, 1, 0, [10.0, 20.0, 30.0, 40.0], 1200),
        (2, 1, 5, [290.0, 280.0, 10.0, 20.0], 200),
        (3, 1, 48, [20.0, 20.0, 280.0, 280.0], 78400),
        (4, 1, 1, [60.0, 80.0, 20.0, 10.0], 200),
        (5, 1, 3, [0.0, 100.0, 30.0, 40.0], 1200),
        (6, 2, 5, [50.0, 280.0, 20.0, 20.0], 400),
        (7, 2, 48, [0.0, 20.0, 300.0, 280.0], 84000),
        (8, 3, 48, [0.0, 20.0, 230.0, 280.0], 64400),
        (9, 4, 5, [290.0, 40.0, 10.0, 40.0], 400),
        (10, 4, 48, [20.0, 0.0, 280.0, 90.0], 25200),
        (11, 5, 5, [50.0, 40.0, 20.0, 40.0], 800),
        (12, 5, 48, [0.0, 0.0, 300.0, 90.0], 27000),
        (13, 6, 48, [0.0, 0.0, 230.0, 90.0], 20700),
    ]


def test_boxes_are_filled_in_as_polygons(converted: Path) -> None:
    first = coco.read(tiled(converted, "val")).annotations[0]

    assert first.segmentation == [[10, 20, 10, 60, 40, 60, 40, 20]]


def test_negatives_are_in_the_labels_only_when_kept_and_on_disk_always(converted: Path) -> None:
    without, with_them = tiled(converted, "val"), tiled(converted, "val", keeps_negatives=True)

    assert len(images(with_them)) == 9
    assert len(list((without.parent / "val_images_300_02").glob("*.jpg"))) == 9


def test_tiles_are_jpeg_of_quality_75_with_a_quarter_of_the_colour(converted: Path) -> None:
    path = tiled(converted, "val").parent / "val_images_300_02" / "5_0_0_300_300.jpg"

    content = path.read_bytes()
    frame = content.index(b"\xff\xc0")
    table = content[content.index(b"\xff\xdb") + 5 :][:4]
    assert content[frame + 11] == 0x22
    assert list(table) == [8, 6, 6, 7]


@pytest.mark.skipif(not SAHI, reason="RESOLUTE_SAHI_PYTHON names no Python with sahi 0.11.14")
@pytest.mark.parametrize(
    ("width", "height", "size", "overlap", "ignore"), [(700, 650, 300, 0.2, True), (512, 300, 200, 0.25, False)]
)
def test_a_whole_synthetic_set_comes_out_as_from_sahi_itself(
    tmp_path: Path, width: int, height: int, size: int, overlap: float, ignore: bool
) -> None:
    made = make_set(
        SynthJob(output_dir=tmp_path, images=6, width=width, height=height, objects_per_image=40, defect_rounds=3)
    )
    convert_to_rgb(RgbJob(input_dir=made.images_dir, output_dir=tmp_path / "png", workers=1))
    job = ConvertJob(
        images_dir=made.images_dir,
        rgb_dir=tmp_path / "png",
        geojson_path=made.geojson_path,
        output_dir=tmp_path / "ours",
        is_parity=True,
    )
    ours = convert_labels(job)
    tables = tmp_path / "category_id_mapping.json", tmp_path / "xview_class_labels.txt"

    _reference("convert", made.images_dir, tmp_path / "png", made.geojson_path, tmp_path / "theirs", *tables, 0.75)
    for side in (ours.train, ours.val):
        assert side.read_bytes() == (tmp_path / "theirs" / side.name).read_bytes()

        done = tile_set(
            TileJob(
                image_dir=tmp_path / "png",
                labels_path=side,
                output_dir=tmp_path / "ours",
                slice_size=size,
                overlap_ratio=overlap,
                keeps_negatives=not ignore,
                is_parity=True,
                workers=1,
            )
        )
        _reference("slice", tmp_path / "png", side, tmp_path / "theirs", size, overlap, ignore, 0.1)
        theirs = tmp_path / "theirs" / done.labels_path.name
        assert _comparable(done.labels_path) == _comparable(theirs)
        _assert_same_pictures(done.images_dir, tmp_path / "theirs" / done.images_dir.name)


def _reference(*arguments: object) -> None:
    script = Path(__file__).with_name("sahi_reference.py")
    subprocess.run([SAHI, str(script), *map(str, arguments)], check=True, capture_output=True)


def _comparable(path: Path) -> Any:
    """Everything but the order of a polygon's corners, which is geometry's own business in SAHI."""
    found = json.loads(path.read_text())
    for annotation in found["annotations"]:
        annotation["segmentation"] = [sorted(zip(p[0::2], p[1::2], strict=True)) for p in annotation["segmentation"]]
    return found


def _assert_same_pictures(ours: Path, theirs: Path) -> None:
    names = sorted(path.name for path in ours.iterdir() if path.name != "preprocessing.json")
    assert names == sorted(path.name for path in theirs.iterdir())
    for name in names:
        mine, other = (cv2.imread(str(folder / name)).astype(int) for folder in (ours, theirs))
        assert np.abs(mine - other).max() <= 2
