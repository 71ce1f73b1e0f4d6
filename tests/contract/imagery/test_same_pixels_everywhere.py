"""What a model learnt from is what it is shown: tiles, training on originals, prediction, evaluation and serving make
the same pixels of the same file, whatever its depth and bands, or refuse."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from resolute.domain.errors import InvalidInput
from resolute.imagery import coco
from resolute.imagery.encoding import Encoding, PictureFormat
from resolute.imagery.geometry import Window
from resolute.imagery.grid import parse_tile_name
from resolute.imagery.origins import options_for, read_origin
from resolute.imagery.preprocessing import RECORD, Origin, Preprocessing, read_record, write_record
from resolute.imagery.register import describe_set
from resolute.imagery.render_options import RenderOptions, StretchKind
from resolute.imagery.report import Reason
from resolute.imagery.rgb import RgbJob, convert_to_rgb
from resolute.imagery.shards.pack import pack
from resolute.imagery.tile import TileJob, tile_set
from resolute.serving.images import MAX_PIXELS
from resolute.serving.trained_decoder import TrainedDecoder
from resolute.vision.data.labels import Sample
from resolute.vision.data.packed import PackedImages
from resolute.vision.data.sources import LocalImages
from resolute.vision.evaluation import evaluate
from resolute.vision.fake import FakeDetector
from resolute.vision.prediction import PredictJob, predict_files
from resolute.vision.slicing.source import open_source

WriteTiff = Callable[..., Path]
SIDE = 96
DTYPES = ("uint8", "uint16", "int16", "float32")
BANDS = {1: (1,), 3: (3, 2, 1), 4: (4, 1, 2), 8: (7, 5, 1)}
PNG = Encoding(PictureFormat.PNG)


def scene(bands: int, dtype: str, *, side: int = SIDE) -> np.ndarray:
    """Noise in a range of its own for each band, with a collar of a value that means nothing."""
    draw = np.random.default_rng(bands)
    low, high = {"uint8": (20, 200), "uint16": (300, 2600), "int16": (-900, 1500), "float32": (0.02, 0.4)}[dtype]
    pixels = draw.uniform(low, high, (side, side, bands)) * np.linspace(0.6, 1.0, bands)
    pixels = pixels.astype(dtype)
    pixels[:8] = nodata_of(dtype)
    return pixels


def nodata_of(dtype: str) -> float:
    return {"uint8": 0, "uint16": 65535, "int16": -32768, "float32": -9999.0}[dtype]


def labels_for(folder: Path, *names: str, side: int = SIDE) -> Path:
    dataset = coco.Dataset(
        images=[coco.Image(id=n, file_name=name, width=side, height=side) for n, name in enumerate(names, 1)],
        annotations=[
            coco.Annotation(id=n, image_id=n, category_id=1, bbox=[40, 40, 30, 30]) for n in range(1, len(names) + 1)
        ],
        categories=[
            coco.Category(id=1, name="red"),
            coco.Category(id=2, name="green"),
            coco.Category(id=3, name="blue"),
        ],
    )
    path = folder / "train.json"
    coco.write(dataset, path)
    return path


def tiled(path: Path, options: RenderOptions, *, side: int = SIDE, out: str = "tiles") -> Path:
    """The folder of the tiles of one file."""
    labels = labels_for(path.parent, path.name, side=side)
    job = TileJob(
        image_dir=path.parent, labels_path=labels, output_dir=path.parent / out, slice_size=48, overlap_ratio=0.0,
        keeps_negatives=True, encoding=PNG, options=options, workers=1,
    )  # fmt: skip
    return tile_set(job).images_dir


def learnt_from(folder: Path) -> Preprocessing:
    found = read_record(folder)
    assert found is not None
    return found


def assembled(tiles: Path, side: int) -> np.ndarray:
    whole = np.zeros((side, side, 3), np.uint8)
    for path in tiles.glob("*.png"):
        _, window = parse_tile_name(path.name) or ("", Window(0, 0, 0, 0))
        whole[window.y1 : window.y2, window.x1 : window.x2] = cv2.imread(str(path))[:, :, ::-1]
    return whole


@pytest.mark.parametrize("stretch", [StretchKind.AUTO, StretchKind.PERCENTILE, StretchKind.MINMAX, StretchKind.NONE])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bands", BANDS)
def test_prediction_training_and_serving_see_the_pixels_of_the_tiles(
    write_tiff: WriteTiff, bands: int, dtype: str, stretch: StretchKind
) -> None:
    raw = write_tiff("raw.tif", scene(bands, dtype), nodata=nodata_of(dtype), photometric="MINISBLACK")
    chosen = RenderOptions(bands=BANDS[bands], stretch=stretch, low_percent=1, high_percent=99)
    tiles = tiled(raw, chosen)
    shown, learnt = assembled(tiles, SIDE), learnt_from(tiles)
    sample = Sample(
        image_id=1, file_name="raw.tif", width=SIDE, height=SIDE, boxes=np.zeros((0, 4), np.float32),
        labels=np.zeros(0, np.int64), areas=np.zeros(0, np.float32), is_crowd=np.zeros(0, bool),
    )  # fmt: skip

    (predicted,) = open_source(raw, options_for(raw, learnt)).windows([Window(0, 0, SIDE, SIDE)])
    served = TrainedDecoder(learnt)(raw.read_bytes(), "the image", max_pixels=MAX_PIXELS)
    trained = LocalImages(raw.parent, chosen).read(sample)

    assert shown[8:].std() > 1
    assert np.array_equal(predicted, shown)
    assert np.array_equal(served, shown)
    assert np.array_equal(trained, shown)


def test_a_file_that_forgot_its_value_without_meaning_is_stretched_as_the_others(
    write_tiff: WriteTiff,
) -> None:
    pixels = scene(4, "uint16")
    tiles = tiled(write_tiff("raw.tif", pixels, nodata=65535), RenderOptions(bands=(3, 2, 1)))
    forgetful = write_tiff("forgetful.tif", pixels)

    (seen,) = open_source(forgetful, options_for(forgetful, learnt_from(tiles))).windows([Window(0, 0, SIDE, SIDE)])

    assert np.array_equal(seen, assembled(tiles, SIDE))


def colours(path: Path, write_tiff: WriteTiff) -> Path:
    """A red and a blue square, as the sensor orders bands: blue, green, red, near infrared."""
    pixels = np.full((200, 200, 4), 300, np.uint16)
    pixels[40:70, 40:70, 2] = 4000
    pixels[120:150, 100:140, 0] = 4000
    return write_tiff(path.name, pixels, photometric="MINISBLACK")


def test_a_detector_finds_the_class_it_learnt_whatever_the_order_of_bands(
    write_tiff: WriteTiff, tmp_path: Path
) -> None:
    raw = colours(tmp_path / "raw.tif", write_tiff)
    options = RenderOptions(bands=(3, 2, 1), stretch=StretchKind.MINMAX)
    detector = FakeDetector(preprocessing=learnt_from(tiled(raw, options, side=200)))

    (found,) = predict_files(detector, PredictJob(images=[raw], output_dir=tmp_path / "out", score_threshold=0.5))
    measured = evaluate(detector, tmp_path, labels_of_colours(tmp_path))

    assert found.problem is None
    assert {row["class"]: row["box"] for row in found.rows()} == {"red": [40, 40, 70, 70], "blue": [100, 120, 140, 150]}
    assert measured.summary()["mAP"] == pytest.approx(1.0)


def labels_of_colours(folder: Path) -> Path:
    document = {
        "images": [{"id": 1, "file_name": "raw.tif", "width": 200, "height": 200}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [40, 40, 30, 30], "area": 900, "iscrowd": 0},
            {"id": 2, "image_id": 1, "category_id": 3, "bbox": [100, 120, 40, 30], "area": 1200, "iscrowd": 0},
        ],
        "categories": [{"id": n, "name": name} for n, name in enumerate(("red", "green", "blue"), 1)],
    }
    (folder / "colours.json").write_text(json.dumps(document))
    return folder / "colours.json"


def test_windows_are_as_large_as_the_tiles_that_were_learnt_from(write_tiff: WriteTiff, tmp_path: Path) -> None:
    raw = colours(tmp_path / "raw.tif", write_tiff)
    detector = FakeDetector(preprocessing=learnt_from(tiled(raw, RenderOptions(bands=(3, 2, 1)), side=200)))
    job = PredictJob(images=[raw], output_dir=tmp_path / "out", overlap=0.0, full_image=False, batch_size=100)

    list(predict_files(detector, job))

    assert detector.calls == [25]  # Of 48 pixels, in 200.


@pytest.mark.parametrize(
    ("bands", "dtype"), [(3, "uint16"), (8, "uint8"), (8, "uint16"), (4, "float32")], ids=lambda value: str(value)
)
def test_an_image_of_another_kind_is_refused_with_both_kinds(
    write_tiff: WriteTiff, tmp_path: Path, bands: int, dtype: str
) -> None:
    tiles = tiled(write_tiff("raw.tif", scene(4, "uint16")), RenderOptions(bands=(3, 2, 1)))
    detector = FakeDetector(preprocessing=learnt_from(tiles))
    other = write_tiff("other.tif", scene(bands, dtype))

    (outcome,) = predict_files(detector, PredictJob(images=[other], output_dir=tmp_path / "out"))

    assert outcome.problem is not None
    assert f"has {bands} band(s) of {dtype}, but the model learnt from bands 3,2,1" in outcome.problem
    assert "4 band(s) of uint16" in outcome.problem
    assert not (tmp_path / "out").exists()
    with pytest.raises(InvalidInput, match=r"the image has .*--bands"):
        TrainedDecoder(learnt_from(tiles))(other.read_bytes(), "the image", max_pixels=MAX_PIXELS)


def test_what_is_chosen_by_hand_wins(write_tiff: WriteTiff) -> None:
    tiles = tiled(write_tiff("raw.tif", scene(4, "uint16")), RenderOptions(bands=(3, 2, 1)))
    other, chosen = write_tiff("other.tif", scene(3, "uint8")), RenderOptions(bands=(1, 2, 3))

    assert options_for(other, learnt_from(tiles), chosen) == chosen


def test_tiles_are_not_changed_a_second_time(write_tiff: WriteTiff, tmp_path: Path) -> None:
    tiles = tiled(write_tiff("raw.tif", scene(4, "uint16")), RenderOptions(bands=(3, 2, 1)))
    tile = next(tiles.glob("*.png"))
    chip = tmp_path / "chip.png"
    chip.write_bytes(tile.read_bytes())

    assert options_for(tile, learnt_from(tiles)) == RenderOptions()
    assert options_for(chip, learnt_from(tiles)) == RenderOptions()


def test_tiles_that_were_made_otherwise_are_refused(write_tiff: WriteTiff) -> None:
    raw = write_tiff("raw.tif", scene(4, "uint16"))
    ours, theirs = tiled(raw, RenderOptions(bands=(3, 2, 1))), tiled(raw, RenderOptions(bands=(1, 2, 3)), out="others")

    with pytest.raises(InvalidInput, match=r"others.* were made otherwise .*bands 1,2,3 and 3,2,1"):
        options_for(next(theirs.glob("*.png")), learnt_from(ours))


def test_pictures_made_before_tiling_keep_how_they_were_made(write_tiff: WriteTiff, tmp_path: Path) -> None:
    raw = write_tiff("raw.tif", scene(4, "uint16"))
    options = RenderOptions(bands=(3, 2, 1), stretch=StretchKind.MINMAX)
    convert_to_rgb(RgbJob(input_dir=tmp_path, output_dir=tmp_path / "rgb", options=options, workers=1))

    tiles = tiled(tmp_path / "rgb" / "raw.png", RenderOptions())

    assert learnt_from(tiles).options == options
    assert learnt_from(tiles).origins == (read_origin(raw),)
    (seen,) = open_source(raw, options_for(raw, learnt_from(tiles))).windows([Window(0, 0, SIDE, SIDE)])
    assert np.array_equal(seen, assembled(tiles, SIDE))
    with pytest.raises(InvalidInput, match="prepared already"):
        tiled(tmp_path / "rgb" / "raw.png", RenderOptions(bands=(3, 2, 1)))


def test_pictures_of_other_bands_are_made_again(write_tiff: WriteTiff, tmp_path: Path) -> None:
    write_tiff("raw.tif", scene(4, "uint16"))
    first = RgbJob(input_dir=tmp_path, output_dir=tmp_path / "rgb", options=RenderOptions(bands=(1, 2, 3)), workers=1)
    convert_to_rgb(first)
    before = (tmp_path / "rgb" / "raw.png").read_bytes()

    again = convert_to_rgb(first)
    other = convert_to_rgb(
        RgbJob(input_dir=tmp_path, output_dir=tmp_path / "rgb", options=RenderOptions(bands=(3, 2, 1)), workers=1)
    )

    assert (again.written, again.skipped) == (0, 1)
    assert (other.written, other.skipped) == (1, 0)
    assert (tmp_path / "rgb" / "raw.png").read_bytes() != before


def test_images_of_several_kinds_are_counted(write_tiff: WriteTiff, tmp_path: Path) -> None:
    for place, (bands, dtype) in enumerate([(4, "uint16"), (4, "uint16"), (3, "uint8")]):
        write_tiff(f"{place}.tif", scene(bands, dtype))
    labels = labels_for(tmp_path, "0.tif", "1.tif", "2.tif")
    job = TileJob(image_dir=tmp_path, labels_path=labels, output_dir=tmp_path / "tiles", slice_size=48, workers=1)

    report = tile_set(job).report

    assert report.count(Reason.MIXED_KINDS) == 1
    assert report.examples(Reason.MIXED_KINDS) == ["1 of 3 band(s) of uint8"]


def test_a_dataset_version_says_how_its_pictures_were_made(write_tiff: WriteTiff) -> None:
    tiles = tiled(write_tiff("raw.tif", scene(4, "uint16")), RenderOptions(bands=(3, 2, 1)))

    described = describe_set(tiles.parent)

    assert described.statistics["preprocessing"][tiles.name]["bands"] == [3, 2, 1]
    assert f"{tiles.name}/{RECORD}" in {file.path for file in described.files}


def test_splits_that_were_made_differently_are_no_dataset(write_tiff: WriteTiff, tmp_path: Path) -> None:
    raw = write_tiff("raw.tif", scene(4, "uint16"))
    tiles = tiled(raw, RenderOptions(bands=(3, 2, 1)))
    (tmp_path / "train.json").rename(tmp_path / "val.json")
    job = TileJob(
        image_dir=tmp_path, labels_path=tmp_path / "val.json", output_dir=tiles.parent, slice_size=48, workers=1,
        keeps_negatives=True,
    )  # fmt: skip
    tile_set(job)

    with pytest.raises(InvalidInput, match="were made differently: bands 3,2,1 and by description"):
        describe_set(tiles.parent)


def test_a_packed_set_says_how_its_pictures_were_made(write_tiff: WriteTiff, tmp_path: Path) -> None:
    tiles = tiled(write_tiff("raw.tif", scene(4, "uint16")), RenderOptions(bands=(3, 2, 1)))
    labels = next(tiles.parent.glob("train*.json"))
    pack(tiles, labels, str(tmp_path / "packed"))

    source = PackedImages(str(tmp_path / "packed"), cache=tmp_path / "cache", cache_gb=1)

    assert source.preprocessing([]) == learnt_from(tiles)


def test_a_flat_scene_with_few_bright_values_is_not_black(write_tiff: WriteTiff) -> None:
    pixels = np.full((SIDE, SIDE, 3), 500, np.uint16)
    pixels[10:14, 10:14] = 3000
    path = write_tiff("water.tif", pixels)

    (seen,) = open_source(path, RenderOptions()).windows([Window(0, 0, SIDE, SIDE)])

    assert seen[10:14, 10:14].min() == 255


def test_limits_make_every_cutout_alike(write_tiff: WriteTiff) -> None:
    pixels, options = scene(3, "uint16"), RenderOptions(limits=(0, 3000))
    whole, part = write_tiff("whole.tif", pixels), write_tiff("part.tif", pixels[48:, 48:])

    (seen,) = open_source(whole, options).windows([Window(48, 48, SIDE, SIDE)])
    (alone,) = open_source(part, options).windows([Window(0, 0, 48, 48)])

    assert np.array_equal(seen, alone)


def test_a_record_of_a_later_version_is_refused(tmp_path: Path) -> None:
    write_record(tmp_path, Preprocessing(format=9))

    with pytest.raises(InvalidInput, match=r"preprocessing has format 9.*Install a newer"):
        read_record(tmp_path)
    (tmp_path / RECORD).write_text("{")
    with pytest.raises(InvalidInput, match=r"preprocessing.json is damaged"):
        read_record(tmp_path)


@pytest.mark.parametrize("nodata", ["nan", "-inf", None])
def test_records_survive_values_that_json_has_no_word_for(tmp_path: Path, nodata: Any) -> None:
    kept = Preprocessing.of(RenderOptions(), [Origin("tiff", "float32", 4, nodata)])

    write_record(tmp_path, kept)

    assert read_record(tmp_path) == kept
