"""Labels of any format come onto their images, and every one that is dropped or changed is counted with its reason."""

import csv
import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyogrio
import pytest
import rasterio
import shapely
from rasterio.errors import NotGeoreferencedWarning

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery import coco
from resolute.imagery.convert import ConvertJob, convert_labels, load_labels
from resolute.imagery.formats.convert import LabelOptions, load_dataset, save_dataset
from resolute.imagery.formats.detect import detect
from resolute.imagery.georeference import WGS84, between, read_crs, read_georeference
from resolute.imagery.report import Reason, Report

UTM = "EPSG:32633"
EAST, NORTH = 500_000.0, 5_000_000.0
Shape = tuple[str, Any]


def scene(path: Path, *, crs: str | None = UTM, east: float = EAST, turned: bool = False, side: int = 200) -> Path:
    """An image of 200 x 200 pixels of half a metre; `turned` by 30 degrees."""
    transform = rasterio.Affine(0.5, 0, east, 0, -0.5, NORTH)
    if turned:
        transform = transform @ rasterio.Affine.rotation(30)
    place = {"crs": crs, "transform": transform} if crs else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        write_pixels(path, side, place)
    return path


def write_pixels(path: Path, side: int, place: dict[str, Any]) -> None:
    with rasterio.open(path, "w", driver="GTiff", width=side, height=side, count=3, dtype="uint8", **place) as target:
        target.write(np.zeros((3, side, side), np.uint8))


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    scene(folder / "a.tif")
    return folder


def on_map(image: Path, pixels: list[tuple[float, float]], crs: str = UTM) -> Any:
    """A polygon in coordinates of `crs` that lies on these pixels."""
    place = read_georeference(image)
    assert place is not None
    return shapely.polygons(between(place.crs, read_crs(crs), place.to_map(np.array(pixels, dtype=np.float64))))


def box(x1: float, y1: float, x2: float, y2: float) -> list[tuple[float, float]]:
    return [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]


def write_vector(path: Path, shapes: list[tuple[Any, Any]], *, crs: str | None = UTM, field: str = "class") -> Path:
    geometries = np.array([None if shape is None else shapely.to_wkb(shape) for shape, _ in shapes], dtype=object)
    kinds = np.array([kind for _, kind in shapes], dtype=object)
    driver = {".gpkg": "GPKG", ".shp": "ESRI Shapefile", ".geojson": "GeoJSON", ".fgb": "FlatGeobuf"}[path.suffix]
    kind = "Polygon" if path.suffix == ".shp" else "Unknown"
    pyogrio.raw.write(path, geometries, [kinds], [field], geometry_type=kind, crs=crs, driver=driver)
    return path


def read(source: Path, images: Path, **options: Any) -> tuple[coco.Dataset, Report]:
    report = Report()
    job = ConvertJob(images_dir=images, geojson_path=source, output_dir=images.parent, options=LabelOptions(**options))
    return load_labels(job, report), report


@pytest.mark.parametrize(
    ("suffix", "crs"), [(".gpkg", UTM), (".shp", "EPSG:3857"), (".geojson", "EPSG:4326"), (".fgb", UTM)]
)
def test_polygons_on_the_map_lie_on_the_pixels_they_were_drawn_over(
    images: Path, tmp_path: Path, suffix: str, crs: str
) -> None:
    triangle = [(20.0, 30.0), (60.0, 30.0), (20.0, 90.0)]
    shapes = [
        (on_map(images / "a.tif", triangle, crs), "roof"),
        (on_map(images / "a.tif", box(100, 110, 150, 140), crs), "car"),
    ]

    dataset, report = read(write_vector(tmp_path / f"labels{suffix}", shapes, crs=crs), images)

    assert [(row.id, row.name) for row in dataset.categories] == [(0, "car"), (1, "roof")]
    car, roof = sorted(dataset.annotations, key=lambda label: label.category_id)
    assert roof.bbox == pytest.approx([20, 30, 40, 60], abs=0.01)
    assert roof.area == pytest.approx(1200, rel=1e-3)
    assert isinstance(roof.segmentation, list)
    assert sorted(zip(roof.segmentation[0][::2], roof.segmentation[0][1::2], strict=True)) == pytest.approx(
        np.array(sorted(triangle)), abs=0.01
    )
    assert car.bbox == pytest.approx([100, 110, 50, 30], abs=0.01)
    assert not report


@pytest.mark.parametrize("turned", [False, True])
def test_labels_find_their_images_also_where_those_are_turned(tmp_path: Path, turned: bool) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    first = scene(folder / "a.tif", turned=turned)
    second = scene(folder / "b.tif", east=EAST + 80, turned=turned)  # They share a strip of 40 pixels.
    shapes = [(on_map(first, box(5, 5, 25, 25)), "x"), (on_map(second, box(150, 150, 170, 170)), "x"),
              (on_map(second, box(10, 100, 20, 110)), "x")]  # fmt: skip

    dataset, report = read(write_vector(tmp_path / "labels.gpkg", shapes), folder)

    names = {image.id: image.file_name for image in dataset.images}
    found = [(names[a.image_id], *np.round(a.bbox, 1)) for a in dataset.annotations]
    assert ("a.tif", 5, 5, 20, 20) in found
    assert ("b.tif", 150, 150, 20, 20) in found
    assert ("b.tif", 10, 100, 10, 10) in found
    assert report.count(Reason.ON_SEVERAL_IMAGES) == len(found) - 3


def test_every_label_that_cannot_stay_as_it_is_is_counted_with_its_reason(images: Path, tmp_path: Path) -> None:
    image = images / "a.tif"
    ring = shapely.polygons(shapely.get_coordinates(on_map(image, box(100, 100, 140, 140))),
                            holes=[shapely.get_coordinates(on_map(image, box(110, 110, 120, 120)))])  # fmt: skip
    shapes = [
        (on_map(image, box(10, 10, 30, 30)), "x"),
        (on_map(image, box(190, 10, 210, 30)), "x"),
        (on_map(image, box(400, 10, 410, 30)), "x"),
        (on_map(image, [(50, 50), (70, 70), (70, 50), (50, 70)]), "x"),
        (ring, "x"),
        (shapely.points(EAST, NORTH), "x"),
        (None, "x"),
        (on_map(image, box(10, 10, 30, 30)), None),
    ]

    dataset, report = read(write_vector(tmp_path / "labels.gpkg", shapes), images)

    assert len(dataset.annotations) == 4
    assert dataset.annotations[1].bbox == pytest.approx([190, 10, 10, 20], abs=0.01)
    assert {reason.value: finding.count for reason, finding in report} == {
        "clipped_to_image": 1, "on_no_image": 1, "repaired": 1, "holes_filled": 1, "not_an_area": 1,
        "empty_bounds": 1, "unknown_class": 1,
    }  # fmt: skip


def test_images_without_a_place_and_broken_ones_are_counted_and_do_not_stop_the_rest(
    images: Path, tmp_path: Path
) -> None:
    scene(images / "nowhere.tif", crs=None)
    (images / "torn.tif").write_bytes(b"II*\x00torn")
    labels = write_vector(tmp_path / "labels.gpkg", [(on_map(images / "a.tif", box(10, 10, 30, 30)), "x")])

    dataset, report = read(labels, images)

    assert [image.file_name for image in dataset.images] == ["a.tif"]
    assert report.examples(Reason.NO_GEOREFERENCE) == ["nowhere.tif"]
    assert report.count(Reason.IMAGE_UNREADABLE) == 1


def test_labels_in_a_system_that_nobody_named_are_refused_until_somebody_does(images: Path, tmp_path: Path) -> None:
    labels = write_vector(tmp_path / "labels.shp", [(on_map(images / "a.tif", box(10, 10, 30, 30)), "x")])
    (tmp_path / "labels.prj").unlink()

    with pytest.raises(InvalidInput, match=r"does not name its coordinate system.*--crs EPSG:4326"):
        read(labels, images)
    with pytest.raises(InvalidInput, match="'EPSG:nonsense' is no coordinate system"):
        read(labels, images, crs="EPSG:nonsense")

    assert len(read(labels, images, crs=UTM)[0].annotations) == 1


def test_labels_that_lie_elsewhere_are_told_with_how_many(images: Path, tmp_path: Path) -> None:
    far = shapely.box(*between(WGS84, read_crs(UTM), np.array([[20.0, 40.0], [20.1, 40.1]])).ravel())
    labels = write_vector(tmp_path / "labels.gpkg", [(far, "x")])

    job = ConvertJob(images_dir=images, geojson_path=labels, output_dir=tmp_path / "out")
    with pytest.raises(InvalidInput, match=r"No label of .* belongs to an image.*1 the label lies on none"):
        convert_labels(job)
    assert not (tmp_path / "out").exists()


def test_the_field_of_the_class_and_the_layer_are_asked_for_where_they_cannot_be_told(
    images: Path, tmp_path: Path
) -> None:
    shape = on_map(images / "a.tif", box(10, 10, 30, 30))
    labels = write_vector(tmp_path / "labels.gpkg", [(shape, "x")], field="usage")

    with pytest.raises(InvalidInput, match=r"its fields are usage.*--class-field"):
        read(labels, images)
    with pytest.raises(InvalidInput, match="no layer 'houses'; its layers are labels"):
        read(labels, images, layer="houses", class_field="usage")
    assert read(labels, images, class_field="usage")[0].categories[0].name == "x"


def boxes_of(dataset: coco.Dataset) -> set[tuple[Any, ...]]:
    files, names = {image.id: image.file_name for image in dataset.images}, dataset.names()
    return {(files[a.image_id], names[a.category_id], *np.round(a.bbox, 1)) for a in dataset.annotations}


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("a", "b"):
        cv2.imwrite(str(folder / f"{name}.jpg"), np.zeros((100, 120, 3), np.uint8))
    return folder


@pytest.mark.parametrize("kind", ["coco", "yolo", "voc", "dota", "csv"])
def test_every_format_is_known_by_its_looks_and_split_into_coco(kind: str, pictures: Path, tmp_path: Path) -> None:
    whole = coco.Dataset(
        images=[coco.Image(id=n, file_name=f"{name}.jpg", width=120, height=100) for n, name in enumerate("ab", 1)],
        annotations=[
            coco.Annotation(id=n, image_id=n % 2 + 1, category_id=n % 2, bbox=[10 * n, 20, 30, 40]) for n in range(1, 5)
        ],
        categories=[coco.Category(id=0, name="car"), coco.Category(id=1, name="roof")],
    )
    target = tmp_path / {"coco": "labels.json", "csv": "labels.csv"}.get(kind, "labels")
    save_dataset(kind, whole, target, Report())

    done = convert_labels(ConvertJob(images_dir=pictures, geojson_path=target, output_dir=tmp_path / "out",
                                     train_split_rate=0.5))  # fmt: skip

    assert detect(target) == kind
    assert boxes_of(coco.read(done.train)) | boxes_of(coco.read(done.val)) == boxes_of(whole)
    assert not done.report.count(Reason.CLIPPED_TO_IMAGE)


@pytest.mark.parametrize(
    ("text", "boxes"),
    [
        ("image,x1,y1,x2,y2,class\na.jpg,1,2,11,22,car\n", {("a.jpg", "car", 1, 2, 10, 20)}),
        ("label;x\n", None),
        ("Label,Filename,ymin,xmin,ymax,xmax\ncar,a.jpg,2,1,22,11\n", {("a.jpg", "car", 1, 2, 10, 20)}),
        ("file_name,x,y,width,height,category\na.jpg,1,2,10,20,car\n", {("a.jpg", "car", 1, 2, 10, 20)}),
        ("pictures/a.jpg,1,2,11,22,car\npictures/b.jpg,,,,,\n", {("a.jpg", "car", 1, 2, 10, 20)}),
    ],
)
def test_boxes_in_columns_are_read_whatever_their_order(
    pictures: Path, tmp_path: Path, text: str, boxes: set[tuple[Any, ...]] | None
) -> None:
    (tmp_path / "labels.csv").write_text(text)

    if boxes is None:
        with pytest.raises(InvalidInput, match="has no column for image, x1"):
            load_dataset("csv", tmp_path / "labels.csv", pictures, Report())
    else:
        assert boxes_of(load_dataset("csv", tmp_path / "labels.csv", pictures, Report())) == boxes


def test_rows_that_cannot_be_used_are_counted_with_their_place(pictures: Path, tmp_path: Path) -> None:
    rows = ["a.jpg,1,2,11,22,car", "a.jpg,1,2,1,22,car", "a.jpg,11,2,1,22,car", "a.jpg,x,2,1,22,car", "a.jpg,1,2",
            "a.jpg,1,2,11,22,", "gone.jpg,1,2,11,22,car", "a.jpg,100,2,150,22,car"]  # fmt: skip
    (tmp_path / "labels.csv").write_text("image,x1,y1,x2,y2,class\n" + "\n".join(rows))

    dataset, report = read(tmp_path / "labels.csv", pictures)

    assert len(dataset.annotations) == 3
    assert {reason.value: finding.count for reason, finding in report} == {
        "zero_area": 1, "inverted": 1, "not_numbers": 1, "not_four_numbers": 1, "unknown_class": 1,
        "image_not_found": 1, "clipped_to_image": 1,
    }  # fmt: skip


def test_a_table_with_outlines_in_words_is_a_map(images: Path, tmp_path: Path) -> None:
    shape = on_map(images / "a.tif", box(10, 10, 30, 30), "EPSG:4326")
    with (tmp_path / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("WKT", "class"), (shapely.to_wkt(shape, rounding_precision=12), "x")])

    dataset, _ = read(tmp_path / "labels.csv", images, crs="EPSG:4326")

    assert dataset.annotations[0].bbox == pytest.approx([10, 10, 20, 20], abs=0.01)


def test_turned_boxes_are_told(pictures: Path, tmp_path: Path) -> None:
    folder = tmp_path / "labels" / "labelTxt"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("10 10 30 10 30 20 10 20 car 0\n50 10 60 20 50 30 40 20 car 0\n")

    dataset, report = read(tmp_path / "labels", pictures)

    assert [a.bbox for a in dataset.annotations] == [[10, 10, 20, 10], [40, 10, 20, 20]]
    assert report.count(Reason.TURNED_BOX) == 1


def test_images_of_another_size_than_their_labels_say_are_told(pictures: Path, tmp_path: Path) -> None:
    document = {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 240, "height": 200},
                   {"id": 2, "file_name": "gone.jpg", "width": 1, "height": 1}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [200, 10, 20, 20]},
                        {"id": 2, "image_id": 1, "category_id": 1, "bbox": [100, 10, 40, 20]}],
        "categories": [{"id": 1, "name": "x"}],
    }  # fmt: skip
    (tmp_path / "labels.json").write_text(json.dumps(document))

    dataset, report = read(tmp_path / "labels.json", pictures)

    assert [(a.bbox) for a in dataset.annotations] == [[100, 10, 20, 20]]
    assert {reason.value for reason, _ in report} == {
        "size_differs", "outside_image", "clipped_to_image", "image_not_found"
    }  # fmt: skip


@pytest.mark.parametrize("name", ["labels.docx", "empty"])
def test_what_is_no_label_is_refused(tmp_path: Path, name: str) -> None:
    if "." in name:
        (tmp_path / name).write_bytes(b"x")
    else:
        (tmp_path / name).mkdir()

    with pytest.raises(InvalidInput, match="--from"):
        detect(tmp_path / name)
    with pytest.raises(NotFound, match="no labels at"):
        detect(tmp_path / "gone")


def test_a_file_that_is_no_vector_file_is_refused_with_its_reason(images: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "labels.zip", "w") as archive:
        archive.writestr("notes.txt", "nothing")

    with pytest.raises(InvalidInput, match=r"labels.zip cannot be read as a vector file"):
        read(tmp_path / "labels.zip", images)
