"""`data synth`: writes the set. The files depend on the seed and the sizes alone, not on the number of workers."""

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copyfile
from typing import Any

import cv2
import msgspec
import numpy as np
import rasterio
from numpy.typing import NDArray
from rasterio.windows import Window as GdalWindow

from resolute.domain.errors import InvalidInput
from resolute.imagery.classes import MAPPING_FILE, NAMES_FILE, xview_classes
from resolute.imagery.files import make_folder, write_atomic
from resolute.imagery.synth.labels import PIXEL_DEGREES, defects, features_of, image_origin
from resolute.imagery.synth.scene import Scene, make_scene
from resolute.imagery.synth.shapes import Shape, shapes_of
from resolute.imagery.workers import Progress, run_all

IMAGES_FOLDER = "train_images"
LABELS_FILE = "xView_train.geojson"
_LARGE = 8192
_APPLE_DOUBLE = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        "


@dataclass(frozen=True, kw_only=True)
class SynthJob:
    output_dir: Path
    images: int = 12
    width: int = 1024
    height: int = 1024
    objects_per_image: int = 60
    classes: int = 60
    seed: int = 0
    bits: int = 8
    bands: int = 3
    defect_rounds: int = 1
    workers: int | None = None

    def __post_init__(self) -> None:
        _within("images", self.images, 1, 1_000_000)
        _within("width", self.width, 32, 1_000_000)
        _within("height", self.height, 32, 1_000_000)
        _within("objects per image", self.objects_per_image, 0, 10_000_000)
        _within("classes", self.classes, 1, 60)
        _within("bands", self.bands, 3, 8)
        _within("defect rounds", self.defect_rounds, 0, 1_000_000)
        if self.bits not in (8, 16):
            raise InvalidInput(f"bits is {self.bits}. Use 8 or 16.")


@dataclass(frozen=True)
class SynthResult:
    images_dir: Path
    geojson_path: Path
    images: int
    features: int
    defects: int


@dataclass(frozen=True)
class _ImageTask:
    job: SynthJob
    place: int
    name: str


def make_set(job: SynthJob, on_progress: Progress = lambda _: None) -> SynthResult:
    folder = make_folder(job.output_dir / IMAGES_FOLDER)
    names = [f"{5 + 3 * place}.tif" for place in range(job.images)]
    tasks = [_ImageTask(job, place, name) for place, name in enumerate(names)]
    features: dict[int, list[dict[str, Any]]] = {}
    for place, found in run_all(_make_image, tasks, workers=job.workers):
        features[place] = found
        on_progress(1)
    labels = [feature for place in range(job.images) for feature in features[place]]
    rng = np.random.default_rng([job.seed, job.images])
    faults = defects(rng, names, job.width, job.height, job.defect_rounds)
    _write_litter(folder, names[: 3 * min(job.defect_rounds, 1)])
    path = job.output_dir / LABELS_FILE
    write_atomic(path, msgspec.json.encode({"type": "FeatureCollection", "features": labels + faults}))
    _copy_tables(job.output_dir)
    return SynthResult(folder, path, job.images, len(labels) + len(faults), len(faults))


def _make_image(task: _ImageTask) -> list[dict[str, Any]]:
    job = task.job
    rng = np.random.default_rng([job.seed, task.place, job.width, job.height])
    shapes = shapes_of(list(xview_classes().mapping)[: job.classes])
    scene = make_scene(rng, job.width, job.height, shapes, job.objects_per_image, _wanted(task, shapes))
    _write_image(job.output_dir / IMAGES_FOLDER / task.name, scene, task)
    return features_of(scene, task.name, task.place)


def _wanted(task: _ImageTask, shapes: list[Shape]) -> list[Shape]:
    """Classes dealt out so that each is in at least two images, where there are two and room enough."""
    images, room = task.job.images, task.job.objects_per_image
    mine = [shape for index, shape in enumerate(shapes) if task.place in (index % images, (index + 1) % images)]
    return mine[:room]


def _write_image(path: Path, scene: Scene, task: _ImageTask) -> None:
    job = task.job
    west, north = image_origin(task.place)
    is_large = max(job.width, job.height) > _LARGE
    profile = {
        "driver": "GTiff",
        "width": job.width,
        "height": job.height,
        "count": job.bands,
        "dtype": "uint8" if job.bits == 8 else "uint16",
        "crs": "EPSG:4326",
        "transform": rasterio.Affine(PIXEL_DEGREES, 0, west, 0, -PIXEL_DEGREES, north),
        "interleave": "pixel",
        "photometric": "RGB" if job.bands < 8 else "MINISBLACK",
        "BIGTIFF": "IF_SAFER",
        **({"tiled": True, "blockxsize": 512, "blockysize": 512} if is_large else {"blockysize": 64}),
    }
    with rasterio.Env(GDAL_CACHEMAX=64 << 20), rasterio.open(path, "w", **profile) as target:
        for window, picture in scene.blocks() if is_large else scene.bands():
            area = GdalWindow(window.x1, window.y1, window.width, window.height)
            target.write(_as_bands(picture, job.bands, job.bits), window=area)


def _as_bands(picture: NDArray[np.uint8], bands: int, bits: int) -> NDArray[Any]:
    """(bands, height, width). Eight bands lie as on WorldView: coastal, blue, green, yellow, red, three infrared."""
    red, green, blue = cv2.split(picture)
    between = cv2.addWeighted(red, 0.5, green, 0.5, 0)
    infrared = cv2.addWeighted(green, 0.7, red, 0.3, 20)
    if bands == 8:
        planes = [blue, blue, green, between, red, infrared, infrared, between]
    else:
        planes = [red, green, blue, infrared, between, infrared, between][:bands]
    stack = np.stack(planes)
    # An 11-bit sensor with a dark offset, which is what needs stretching.
    return stack if bits == 8 else stack.astype(np.uint16) * 7 + 180


def _write_litter(folder: Path, names: list[str]) -> None:
    for name in names:
        write_atomic(folder / f"._{name}", _APPLE_DOUBLE + bytes(64))


def _copy_tables(folder: Path) -> None:
    for name in (MAPPING_FILE, NAMES_FILE):
        with as_file(files("resolute.imagery") / "data" / name) as source:
            copyfile(source, folder / name)


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InvalidInput(f"{name} is {value}. It must lie between {low:,} and {high:,}.")
