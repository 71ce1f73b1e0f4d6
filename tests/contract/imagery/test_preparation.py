"""The way from raw imagery to tiles: each step on real files, with what goes wrong on the way."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
import rasterio

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery import coco
from resolute.imagery.check import check_labels
from resolute.imagery.contact_sheet import ShowJob, show
from resolute.imagery.convert import ConvertJob, convert_labels
from resolute.imagery.encoding import Encoding, PictureFormat
from resolute.imagery.grid import parse_tile_name
from resolute.imagery.report import Reason
from resolute.imagery.rgb import RgbJob, convert_to_rgb
from resolute.imagery.synth.make import SynthJob, SynthResult, make_set
from resolute.imagery.tile import TileJob, tile_set

TIFF = "5.tif"


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:2000])


def labels_of(found: SynthResult, folder: Path) -> Path:
    return convert_labels(
        ConvertJob(
            images_dir=found.images_dir, geojson_path=found.geojson_path, output_dir=folder, train_split_rate=1.0
        )
    ).train


def tile_job(found: SynthResult, folder: Path, **changes: object) -> TileJob:
    labels = labels_of(found, folder)
    job = TileJob(image_dir=found.images_dir, labels_path=labels, output_dir=folder / "tiles", workers=1)
    return replace(job, **changes)


def test_the_same_seed_makes_the_same_files_with_any_number_of_workers(tmp_path: Path) -> None:
    jobs = [
        SynthJob(output_dir=tmp_path / name, images=3, width=128, height=96, objects_per_image=8, workers=workers)
        for name, workers in (("one", 1), ("two", 2))
    ]

    for job in jobs:
        make_set(job)

    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_a_synthetic_set_has_every_kind_of_fault(synthetic: SynthResult) -> None:
    found = check_labels(synthetic.geojson_path, synthetic.images_dir)

    expected = {
        Reason.EMPTY_BOUNDS: 2,
        Reason.NOT_FOUR_NUMBERS: 1,
        Reason.UNKNOWN_CLASS: 2,
        Reason.IMAGE_NOT_FOUND: 1,
        Reason.ZERO_AREA: 1,
        Reason.OUTSIDE_IMAGE: 1,
        Reason.INVERTED: 1,
        Reason.CLIPPED_TO_IMAGE: 1,
        Reason.LITTER: 3,
    }
    assert {reason: found.report.count(reason) for reason in expected} == expected


@pytest.mark.parametrize(("bits", "bands"), [(8, 3), (8, 4), (16, 3), (16, 8)])
def test_synthetic_images_of_any_depth_become_pictures(tmp_path: Path, bits: int, bands: int) -> None:
    found = make_set(
        SynthJob(output_dir=tmp_path, images=1, width=200, height=150, objects_per_image=5, bits=bits, bands=bands)
    )

    done = convert_to_rgb(RgbJob(input_dir=found.images_dir, output_dir=tmp_path / "rgb", workers=1))

    picture = cv2.imread(str(tmp_path / "rgb" / "5.png"))
    assert done.written == 1
    assert picture.shape == (150, 200, 3)
    assert picture.std() > 5


def test_a_large_image_is_drawn_and_tiled_by_blocks(tmp_path: Path) -> None:
    found = make_set(
        SynthJob(output_dir=tmp_path, images=1, width=8500, height=700, objects_per_image=40, defect_rounds=0)
    )

    done = tile_set(tile_job(found, tmp_path, slice_size=640, keeps_negatives=True))

    assert done.images == 34
    assert done.annotations >= 40


@pytest.mark.parametrize(("field", "value"), [("images", 0), ("width", 3), ("bands", 2), ("classes", 61), ("bits", 12)])
def test_a_set_that_cannot_be_made_is_refused_with_the_value(tmp_path: Path, field: str, value: int) -> None:
    with pytest.raises(InvalidInput, match=f"{field} is {value}"):
        SynthJob(output_dir=tmp_path, **{field: value})


def test_pictures_equal_their_tiffs_and_litter_stays_where_it_is(own_set: SynthResult, tmp_path: Path) -> None:
    before = sorted(os.listdir(own_set.images_dir))

    done = convert_to_rgb(RgbJob(input_dir=own_set.images_dir, output_dir=tmp_path / "rgb", workers=1))

    assert (done.written, done.skipped, done.report.count(Reason.LITTER)) == (4, 0, 3)
    assert sorted(os.listdir(own_set.images_dir)) == before
    from_tiff = cv2.imread(str(own_set.images_dir / TIFF))
    assert np.array_equal(cv2.imread(str(tmp_path / "rgb" / "5.png")), from_tiff)


def test_what_is_done_is_skipped_until_the_source_is_newer(own_set: SynthResult, tmp_path: Path) -> None:
    job = RgbJob(input_dir=own_set.images_dir, output_dir=tmp_path / "rgb", workers=1)
    convert_to_rgb(job)
    later = (tmp_path / "rgb" / "5.png").stat().st_mtime + 10
    os.utime(own_set.images_dir / TIFF, (later, later))

    again = convert_to_rgb(job)

    assert (again.written, again.skipped) == (1, 3)


def test_a_corrupt_tiff_is_reported_and_the_others_are_converted(own_set: SynthResult, tmp_path: Path) -> None:
    damage(own_set.images_dir / TIFF)

    done = convert_to_rgb(RgbJob(input_dir=own_set.images_dir, output_dir=tmp_path / "rgb", workers=2))

    assert done.written == 3
    assert "5.tif cannot be read" in done.report.examples(Reason.IMAGE_UNREADABLE)[0]
    assert not (tmp_path / "rgb" / "5.png").exists()


def test_a_folder_without_tiffs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"has no .tif"):
        convert_to_rgb(RgbJob(input_dir=tmp_path, output_dir=tmp_path / "rgb"))
    with pytest.raises(NotFound, match="no folder"):
        convert_to_rgb(RgbJob(input_dir=tmp_path / "gone", output_dir=tmp_path / "rgb"))


def test_labels_of_an_unreadable_image_are_counted_and_the_rest_converted(own_set: SynthResult, tmp_path: Path) -> None:
    (own_set.images_dir / TIFF).write_bytes(b"nothing")

    done = convert_labels(
        ConvertJob(images_dir=own_set.images_dir, geojson_path=own_set.geojson_path, output_dir=tmp_path / "out")
    )

    assert sum(done.images) == 3
    assert done.report.count(Reason.IMAGE_UNREADABLE) == 1
    assert done.report.count(Reason.IMAGE_NOT_FOUND) > 20


def test_labels_for_other_images_are_refused(synthetic: SynthResult, tmp_path: Path) -> None:
    (tmp_path / "1.tif").write_bytes(b"")

    with pytest.raises(InvalidInput, match=r"No label of .* belongs to an image of"):
        convert_labels(ConvertJob(images_dir=tmp_path, geojson_path=synthetic.geojson_path, output_dir=tmp_path))


def test_every_tile_holds_the_pixels_its_name_says(synthetic: SynthResult, tmp_path: Path) -> None:
    done = tile_set(tile_job(synthetic, tmp_path, encoding=Encoding(PictureFormat.PNG)))

    dataset = coco.read(done.labels_path)
    assert len(dataset.images) == done.images == done.written
    for image in dataset.images:
        stem, window = parse_tile_name(image.file_name) or ("", None)
        source = cv2.imread(str(synthetic.images_dir / f"{stem}.tif"))
        tile = cv2.imread(str(done.images_dir / image.file_name))
        assert window is not None
        assert np.array_equal(tile, source[window.y1 : window.y2, window.x1 : window.x2])


def test_every_label_of_a_tile_is_a_part_of_a_label_of_its_image(synthetic: SynthResult, tmp_path: Path) -> None:
    job = tile_job(synthetic, tmp_path)
    done = tile_set(job)

    source, tiles = coco.read(job.labels_path), coco.read(done.labels_path)
    whole = {(image.file_name.split(".")[0]): source.by_image()[image.id] for image in source.images}
    for image in tiles.images:
        stem, window = parse_tile_name(image.file_name) or ("", None)
        assert window is not None
        for part in tiles.by_image()[image.id]:
            x, y = part.bbox[0] + window.x1, part.bbox[1] + window.y1
            assert any(
                a.category_id == part.category_id
                and a.bbox[0] <= x <= a.bbox[0] + a.bbox[2]
                and a.bbox[1] <= y <= a.bbox[1] + a.bbox[3]
                and part.area >= 0.1 * a.area
                for a in whole[stem]
            )


def test_negatives_are_left_out_unless_they_are_kept(tmp_path: Path) -> None:
    found = make_set(
        SynthJob(output_dir=tmp_path, images=1, width=900, height=900, objects_per_image=2, defect_rounds=0)
    )

    without = tile_set(tile_job(found, tmp_path / "a"))
    with_them = tile_set(tile_job(found, tmp_path / "b", keeps_negatives=True))

    assert without.images < with_them.images == 16
    assert len(list(without.images_dir.glob("*.jpg"))) == without.images
    assert len(list(with_them.images_dir.glob("*.jpg"))) == 16


def test_workers_change_nothing(synthetic: SynthResult, tmp_path: Path) -> None:
    one = tile_set(tile_job(synthetic, tmp_path / "one"))
    two = tile_set(tile_job(synthetic, tmp_path / "two", workers=2))

    assert tree(one.images_dir) == tree(two.images_dir)
    assert one.labels_path.read_bytes() == two.labels_path.read_bytes()


@pytest.mark.parametrize("part_pixels", [1, 60_000, 100_000])
def test_an_image_shared_by_processes_gives_what_one_process_gives(
    synthetic: SynthResult, tmp_path: Path, part_pixels: int
) -> None:
    whole = tile_set(tile_job(synthetic, tmp_path / "whole", slice_size=100))
    parts = tile_set(tile_job(synthetic, tmp_path / "parts", slice_size=100, part_pixels=part_pixels))

    assert whole.labels_path.read_bytes() == parts.labels_path.read_bytes()
    assert tree(whole.images_dir) == tree(parts.images_dir)
    assert {reason: found.count for reason, found in whole.report} == {
        reason: found.count for reason, found in parts.report
    }


def test_a_stopped_run_goes_on_where_it_was(synthetic: SynthResult, tmp_path: Path) -> None:
    job = tile_job(synthetic, tmp_path)
    whole = tile_set(job)
    expected = tree(whole.images_dir)
    gone = [name for name in sorted(expected) if name.endswith(".jpg")][::3]
    for name in gone:
        (whole.images_dir / name).unlink()

    again = tile_set(job)

    assert again.written == len(gone)
    assert again.skipped == whole.written - again.written
    assert tree(again.images_dir) == expected


def test_other_settings_make_every_tile_again(synthetic: SynthResult, tmp_path: Path) -> None:
    job = tile_job(synthetic, tmp_path)
    tile_set(job)

    again = tile_set(replace(job, encoding=Encoding(quality=50)))

    assert again.skipped == 0


def test_a_run_with_other_settings_that_was_cut_off_is_resumed_without_old_tiles(
    synthetic: SynthResult, tmp_path: Path
) -> None:
    job = tile_job(synthetic, tmp_path)
    coarse = replace(job, encoding=Encoding(quality=30))
    expected = tile_set(replace(coarse, output_dir=tmp_path / "fresh"))
    tile_set(job)
    stranger = job.output_dir / "train_images_300_02" / "9999_0_0_300_300.jpg"
    stranger.write_bytes(b"not of this set")

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tile_set(coarse, stop)
    resumed = tile_set(coarse)

    assert 0 < resumed.skipped < expected.written
    assert stranger.exists()
    stranger.unlink()
    assert tree(resumed.images_dir) == tree(expected.images_dir)


def test_a_corrupt_image_is_reported_and_the_others_are_tiled(own_set: SynthResult, tmp_path: Path) -> None:
    job = tile_job(own_set, tmp_path)
    damage(own_set.images_dir / TIFF)
    (own_set.images_dir / "8.tif").unlink()

    done = tile_set(job)

    names = {image.file_name.split("_")[0] for image in coco.read(done.labels_path).images}
    assert names == {"11", "14"}
    assert done.report.count(Reason.IMAGE_UNREADABLE) == 1
    assert done.report.count(Reason.IMAGE_NOT_FOUND) == 1


def test_an_image_of_another_size_than_said_is_tiled_by_its_own(synthetic: SynthResult, tmp_path: Path) -> None:
    job = tile_job(synthetic, tmp_path)
    dataset = coco.read(job.labels_path)
    dataset.images[0].width = 9999
    coco.write(dataset, job.labels_path)

    done = tile_set(job)

    assert done.report.examples(Reason.SIZE_DIFFERS) == ["5.tif: 500 x 400, said 9999 x 400"]
    assert all(
        (parse_tile_name(i.file_name) or ("", (0, 0, 0, 0)))[1][2] <= 500 for i in coco.read(done.labels_path).images
    )


def test_images_of_the_same_stem_do_not_write_over_one_another(own_set: SynthResult, tmp_path: Path) -> None:
    (own_set.images_dir / "more").mkdir()
    (own_set.images_dir / "8.tif").rename(own_set.images_dir / "more" / "5.tif")
    job = tile_job(own_set, tmp_path)
    dataset = coco.read(job.labels_path)
    twin = coco.Image(height=400, width=500, id=99, file_name="more/5.tif")
    labels = [coco.Annotation(image_id=99, bbox=[10, 10, 50, 50], category_id=0, id=9999, area=2500)]
    dataset.images, dataset.annotations = [dataset.images[0], twin], dataset.annotations + labels
    coco.write(dataset, job.labels_path)

    done = tile_set(job)

    names = [image.file_name for image in coco.read(done.labels_path).images]
    assert len(set(names)) == len(names)
    assert any(name.startswith("more_5_tif_") for name in names)


def test_masks_are_cut_with_their_tiles(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.png"), np.zeros((100, 200, 3), np.uint8))
    mask = [[80, 10, 120, 10, 120, 50, 80, 50]]
    dataset = coco.Dataset(
        images=[coco.Image(height=100, width=200, id=1, file_name="a.png")],
        annotations=[
            coco.Annotation(image_id=1, bbox=[80, 10, 40, 40], segmentation=mask, category_id=1, id=1, area=1600),
            coco.Annotation(image_id=1, bbox=[0, 0, 9, 9], segmentation={"counts": "x"}, category_id=1, id=2, area=81),
        ],
        categories=[coco.Category(id=1, name="a")],
    )
    coco.write(dataset, tmp_path / "set.json")
    job = TileJob(
        image_dir=tmp_path, labels_path=tmp_path / "set.json", output_dir=tmp_path, slice_size=100, overlap_ratio=0.0
    )

    done = tile_set(job)

    left, box_only, right = sorted(coco.read(done.labels_path).annotations, key=lambda a: (a.image_id, -a.area))
    assert (left.bbox, left.area) == ([80, 10, 20, 40], 800)
    assert (right.bbox, right.area) == ([0, 10, 20, 40], 800)
    assert box_only.segmentation == []
    assert done.report.count(Reason.RLE_LEFT_OUT) == 1


def test_a_deep_check_finds_images_that_are_cut_off(own_set: SynthResult, tmp_path: Path) -> None:
    labels = labels_of(own_set, tmp_path)
    path = own_set.images_dir / TIFF
    path.write_bytes(path.read_bytes()[:300_000])
    (own_set.images_dir / "8.tif").unlink()

    shallow = check_labels(labels, own_set.images_dir)
    deep = check_labels(labels, own_set.images_dir, is_deep=True, workers=1)

    assert shallow.report.count(Reason.IMAGE_UNREADABLE) == 0
    assert deep.report.count(Reason.IMAGE_UNREADABLE) == 1
    assert deep.report.count(Reason.IMAGE_NOT_FOUND) == 1


def test_a_sheet_shows_images_with_their_boxes(synthetic: SynthResult, tmp_path: Path) -> None:
    labels = labels_of(synthetic, tmp_path)
    job = ShowJob(labels_path=labels, image_dir=synthetic.images_dir, output_path=tmp_path / "sheet.png", cell=100)

    shown, report = show(job)

    sheet = cv2.imread(str(tmp_path / "sheet.png"))
    assert shown == 4
    assert not report
    assert sheet.shape == (126, 420, 3)


def test_a_sheet_of_nothing_is_refused(synthetic: SynthResult, tmp_path: Path) -> None:
    labels = labels_of(synthetic, tmp_path)

    with pytest.raises(InvalidInput, match="could be read from"):
        show(ShowJob(labels_path=labels, image_dir=tmp_path, output_path=tmp_path / "sheet.png"))


def test_a_report_is_json(synthetic: SynthResult) -> None:
    found = check_labels(synthetic.geojson_path, synthetic.images_dir)

    assert json.loads(json.dumps(found.report.as_dict()))["empty_bounds"]["count"] == 2


HUGE = """
import resource, sys
from pathlib import Path
from resolute.imagery.tile import TileJob, tile_set

folder = Path(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
done = tile_set(TileJob(image_dir=folder, labels_path=folder / "set.json", output_dir=folder / "out", workers=1))
print(done.images, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_an_image_of_a_hundred_gigapixels_takes_no_more_memory_than_a_small_one(tmp_path: Path) -> None:
    side = 316_000
    shape = {"width": side, "height": side, "count": 3, "dtype": "uint8", "photometric": "RGB", "interleave": "pixel"}
    blocks = {"tiled": True, "blockxsize": 512, "blockysize": 512, "BIGTIFF": "YES", "SPARSE_OK": "TRUE"}
    place = {"crs": "EPSG:4326", "transform": rasterio.Affine(1e-6, 0, 0, 0, -1e-6, 0)}
    with rasterio.open(tmp_path / "huge.tif", "w", driver="GTiff", **shape, **blocks, **place):
        pass
    boxes = [[n * 950 + 50, (n * 7919) % (side - 100) + 50, 20, 20] for n in range(330)]
    dataset = coco.Dataset(
        images=[coco.Image(height=side, width=side, id=1, file_name="huge.tif")],
        annotations=[coco.Annotation(image_id=1, bbox=b, category_id=0, id=n, area=400) for n, b in enumerate(boxes)],
        categories=[coco.Category(id=0, name="a")],
    )
    coco.write(dataset, tmp_path / "set.json")

    out = subprocess.run([sys.executable, "-c", HUGE, str(tmp_path)], capture_output=True, text=True, check=True).stdout

    tiles, grown_megabytes = map(int, out.split())
    assert tiles >= 330
    assert grown_megabytes < 150


def test_an_image_that_is_torn_leaves_no_tile_behind(write_tiff: Callable[..., Path], tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (400, 400, 3), dtype=np.uint8)
    for name in ("whole.tif", "torn.tif"):
        write_tiff(name, pixels, tiled=True, blockxsize=64, blockysize=64, compress="deflate")
    content = bytearray((tmp_path / "torn.tif").read_bytes())
    content[len(content) * 2 // 3 : len(content) * 2 // 3 + 4000] = bytes(4000)
    (tmp_path / "torn.tif").write_bytes(content)
    labels = coco.Dataset(
        images=[
            coco.Image(id=n, file_name=f"{name}.tif", width=400, height=400) for n, name in enumerate(("whole", "torn"))
        ],
        annotations=[coco.Annotation(id=n, image_id=n, category_id=1, bbox=[10, 10, 380, 380]) for n in range(2)],
        categories=[coco.Category(id=1, name="x")],
    )
    coco.write(labels, tmp_path / "train.json")
    job = TileJob(
        image_dir=tmp_path, labels_path=tmp_path / "train.json", output_dir=tmp_path / "out", slice_size=100,
        keeps_negatives=True, workers=1, part_pixels=40_000,
    )  # fmt: skip

    done = tile_set(job)

    assert done.report.count(Reason.IMAGE_UNREADABLE) >= 1
    names = {path.name for path in done.images_dir.glob("*.jpg")}
    assert names == {image.file_name for image in coco.read(done.labels_path).images}
    assert {name.partition("_")[0] for name in names} == {"whole"}
