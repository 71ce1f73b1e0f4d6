"""Files in, files out: a detector over images, with pictures and GeoJSON beside each other in a folder.

One image that cannot be read does not stop the rest; its outcome says why.
"""

import glob
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.encoding import Encoding, encode
from resolute.imagery.files import IMAGE_SUFFIXES, list_images, write_atomic, write_atomic_parts
from resolute.imagery.georeference import read_georeference
from resolute.imagery.grid import Grid, check_tiling
from resolute.imagery.origins import options_for
from resolute.imagery.raster import image_size
from resolute.imagery.render_options import RenderOptions
from resolute.vision.detections import ClassName, Detector, preprocessing_of
from resolute.vision.drawing import draw_detections
from resolute.vision.geo import coordinates_of, each_feature
from resolute.vision.slicing.found import MOST_BOXES
from resolute.vision.slicing.predict import MergeSettings, find_regions
from resolute.vision.slicing.regions import Regions
from resolute.vision.slicing.source import whole_picture

SLICE_SIZE = 640
_PICTURE_SIDE = 4096
"""Pictures of larger images are made smaller: they are to be looked at."""


@dataclass(frozen=True, kw_only=True)
class PredictJob:
    images: list[Path]
    output_dir: Path
    slice_size: int | None = None
    """None: as large as the tiles that the detector learnt from, else 640."""
    overlap: float = 0.2
    batch_size: int = 8
    score_threshold: float = 0.25
    full_image: bool = True
    merging: MergeSettings = field(default_factory=MergeSettings)
    rendering: RenderOptions | None = None
    """How images are read; None: as in the detector's training."""
    draws: bool = True
    writes_geojson: bool = False

    def __post_init__(self) -> None:
        check_tiling(self.slice_size or SLICE_SIZE, self.overlap)
        if not 0 <= self.score_threshold <= 1:
            raise InvalidInput(f"The score threshold is {self.score_threshold}. It must lie between 0 and 1.")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Of one image: what was found and where it was written, or the `problem`."""

    image: Path
    found: Regions | None = None
    classes: tuple[ClassName, ...] = ()
    picture: Path | None = None
    geojson: Path | None = None
    problem: str | None = None

    def as_dict(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"image": str(self.image)}
        if self.found is None:
            return {**plain, "problem": self.problem}
        plain.update(width=self.found.width, height=self.found.height, detections=self.rows())
        if self.found.left_out:
            plain["left_out"] = self.found.left_out
        written = {"picture": self.picture, "geojson": self.geojson}
        return {**plain, **{key: str(path) for key, path in written.items() if path is not None}}

    def warning(self) -> str | None:
        """When there was more than is kept."""
        if self.found is None or not self.found.left_out:
            return None
        return (
            f"{self.image} has more than {MOST_BOXES:,} detections before joining; the {self.found.left_out:,} with "
            "the lowest scores were left out. Raise --score, or check that the image is not noise."
        )

    def best(self) -> str | None:
        """Class and score."""
        if not self.found:
            return None
        return f"{self.classes[int(self.found.labels[0]) - 1].name} {float(self.found.scores[0]):.2f}"

    def rows(self) -> list[dict[str, Any]]:
        """Best first: class, class_id, score and box (x1, y1, x2, y2)."""
        if self.found is None:
            return []
        named = [self.classes[label - 1] for label in self.found.labels.tolist()]
        boxes = np.round(self.found.boxes.astype(float), 2).tolist()
        scores = self.found.scores.tolist()
        return [
            {"class": name.name, "class_id": name.id, "score": round(score, 6), "box": box}
            for name, score, box in zip(named, scores, boxes, strict=True)
        ]


def expand_images(given: Sequence[str]) -> list[Path]:
    """Files, folders and patterns such as `tiles/*.tif`, as a list without repetition. Raises NotFound."""
    found: dict[Path, None] = {}
    for text in given:
        path = Path(text)
        if path.is_dir():
            inside = list_images(path)[0]
        elif path.exists():
            inside = [path]
        else:
            matches = sorted(Path(match) for match in glob.glob(text, recursive=True))
            inside = [match for match in matches if match.suffix.lower() in IMAGE_SUFFIXES]
        if not inside:
            raise NotFound(f"There is no image at {text}. Give a file, a folder of images, or a pattern in quotes.")
        found.update(dict.fromkeys(inside))
    return list(found)


def predict_files(
    detector: Detector,
    job: PredictJob,
    on_progress: Callable[[int], object] = lambda windows: None,
    on_step: Callable[[str], object] = lambda step: None,
) -> Iterator[Outcome]:
    """One outcome per image, as it is done. `on_progress` hears of windows, `on_step` of what else takes its time."""
    names = _output_names(job.images)
    job = sized_for(detector, job)

    def step_of(image: Path) -> Callable[[str], object]:
        return lambda step: on_step(f"{image.name}: {step}")

    for image in job.images:
        on_step(image.name)
        try:
            yield _predict(detector, image, job.output_dir / names[image], job, on_progress, step_of(image))
        except (InvalidInput, NotFound) as problem:
            yield Outcome(image=image, problem=str(problem))


def sized_for(detector: Detector, job: PredictJob) -> PredictJob:
    """The job with the size of its windows decided."""
    learnt = preprocessing_of(detector)
    return replace(job, slice_size=job.slice_size or (learnt.tile_size if learnt else None) or SLICE_SIZE)


def count_windows(job: PredictJob) -> int:
    """How many windows there are to look at; images that cannot be read count none."""
    size = job.slice_size or SLICE_SIZE
    total = 0
    for image in job.images:
        try:
            width, height = image_size(image)
        except (InvalidInput, NotFound):
            continue
        windows = len(Grid(width, height, size, job.overlap))
        total += windows + (job.full_image and windows > 1)
    return total


def _predict(
    detector: Detector,
    image: Path,
    target: Path,
    job: PredictJob,
    on_progress: Callable[[int], object],
    on_step: Callable[[str], object],
) -> Outcome:
    rendering = options_for(image, preprocessing_of(detector), job.rendering)
    found = find_regions(
        detector,
        image,
        slice_size=job.slice_size or SLICE_SIZE,
        overlap=job.overlap,
        batch_size=job.batch_size,
        full_image=job.full_image,
        merging=job.merging,
        score_threshold=job.score_threshold,
        rendering=rendering,
        on_progress=on_progress,
        on_step=on_step,
    )
    classes = detector.classes
    on_step("writing")
    picture = _draw(image, found, classes, target, rendering) if job.draws else None
    geojson = _write_geojson(image, found, classes, target) if job.writes_geojson else None
    return Outcome(image=image, found=found, classes=classes, picture=picture, geojson=geojson)


def _draw(image: Path, found: Regions, classes: Sequence[ClassName], target: Path, rendering: RenderOptions) -> Path:
    path = target.with_name(target.name + ".jpg")
    with whole_picture(image, rendering, max_side=_PICTURE_SIDE) as picture:
        drawn = draw_detections(picture, found, classes, scale=picture.shape[1] / found.width)
    write_atomic(path, encode(drawn, Encoding(quality=92)))
    return path


def _write_geojson(image: Path, found: Regions, classes: Sequence[ClassName], target: Path) -> Path:
    path = target.with_name(target.name + ".geojson")
    place = read_georeference(image)
    head = {"type": "FeatureCollection", "coordinates": coordinates_of(place)}
    features = each_feature(found, classes, place, image=image.name)
    write_atomic_parts(path, _collection(head, features))
    return path


def _collection(head: dict[str, Any], features: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    yield json.dumps(head).removesuffix("}").encode() + b', "features": ['
    for number, feature in enumerate(features):
        yield (b",\n" if number else b"\n") + json.dumps(feature).encode()
    yield b"\n]}\n"


def _output_names(images: Sequence[Path]) -> dict[Path, str]:
    """The stem of each image; images of one stem from several folders are told apart by a number."""
    taken: dict[str, int] = {}
    names = {}
    for image in images:
        taken[image.stem] = taken.get(image.stem, 0) + 1
        names[image] = image.stem if taken[image.stem] == 1 else f"{image.stem}-{taken[image.stem]}"
    return names
