"""`data coco`: a folder of images and their labels, of whatever format, become `train.json` and `val.json`."""

from dataclasses import dataclass, field
from pathlib import Path

from resolute.domain.errors import InvalidInput, ResoluteError
from resolute.imagery import coco, geojson
from resolute.imagery.classes import ClassTable, xview_classes
from resolute.imagery.collector import paused_collector
from resolute.imagery.files import TIFF_SUFFIXES, existing_folder, list_images, make_folder
from resolute.imagery.fitting import fit_to_images
from resolute.imagery.formats.convert import LabelOptions, load_dataset
from resolute.imagery.formats.detect import detect
from resolute.imagery.labels import SizedImage, convert, subset
from resolute.imagery.raster import image_size
from resolute.imagery.report import MEANING, Reason, Report
from resolute.imagery.split import on_one_side, shuffled, stratified
from resolute.imagery.workers import Progress

_RGB_SUFFIXES = (".png", ".jpg", ".jpeg")


@dataclass(frozen=True, kw_only=True)
class ConvertJob:
    """`rgb_dir`: pictures of the same stems, whose names go into the label files; None keeps the originals' names.

    `kind` is one of `formats.convert.FORMATS`, xview (its GeoJSON), or auto, which looks at the labels.
    """

    images_dir: Path
    geojson_path: Path
    """The labels: a file, or a folder of them."""
    kind: str = "auto"
    options: LabelOptions = field(default_factory=LabelOptions)
    output_dir: Path
    rgb_dir: Path | None = None
    train_split_rate: float = 0.75
    seed: int = 0
    is_parity: bool = False
    classes: ClassTable = field(default_factory=xview_classes)


@dataclass(frozen=True)
class ConvertResult:
    train: Path
    val: Path
    images: tuple[int, int]
    annotations: tuple[int, int]
    report: Report


def convert_labels(job: ConvertJob, on_progress: Progress = lambda _: None) -> ConvertResult:
    """Writes `train.json` and `val.json`. Raises only when no label could be used at all. Progress counts images."""
    report = Report()
    whole = load_labels(job, report, on_progress)
    if not whole.images:
        raise InvalidInput(
            f"No label of {job.geojson_path} belongs to an image of {job.images_dir}. {_why(report)}"
            "Check that both belong together: xView's features name images in `properties.image_id`, map labels lie "
            "where images are, other formats name files."
        )
    with paused_collector():
        train, val = (subset(whole, order) for order in _split(whole, job, report))
    make_folder(job.output_dir)
    paths = job.output_dir / "train.json", job.output_dir / "val.json"
    for dataset, path in zip((train, val), paths, strict=True):
        coco.write(dataset, path)
    return ConvertResult(
        *paths, (len(train.images), len(val.images)), (len(train.annotations), len(val.annotations)), report
    )


def load_labels(job: ConvertJob, report: Report, on_progress: Progress = lambda _: None) -> coco.Dataset:
    """All labels of the folder, not split; nothing is written."""
    existing_folder(job.images_dir)
    kind = detect(job.geojson_path) if job.kind == "auto" and not job.is_parity else job.kind
    if kind not in ("auto", "xview"):
        return _of_any_format(kind, job, report, on_progress)
    features = geojson.read(job.geojson_path, report)
    images = _sized_images(job, set(features.image_ids), report, on_progress)
    return convert(features, images, job.classes, report, is_parity=job.is_parity)


def _of_any_format(kind: str, job: ConvertJob, report: Report, on_progress: Progress) -> coco.Dataset:
    is_map = kind == "map"
    nothing: Progress = lambda _: None  # noqa: E731
    dataset = load_dataset(
        kind, job.geojson_path, job.images_dir, report, job.options, on_progress if is_map else nothing
    )
    if not is_map:
        dataset = fit_to_images(dataset, job.images_dir, report, on_progress)
    labelled = {annotation.image_id for annotation in dataset.annotations}
    if is_map:
        # A folder of scenes is larger than what was labelled: as with xView's, what has no label is left out.
        dataset.images = [image for image in dataset.images if image.id in labelled]
    return _named_as_pictures(dataset, job, report)


def _named_as_pictures(dataset: coco.Dataset, job: ConvertJob, report: Report) -> coco.Dataset:
    pictures = _pictures(job.rgb_dir)
    if pictures is None:
        return dataset
    kept = []
    for image in dataset.images:
        stem = Path(image.file_name).stem
        if stem not in pictures:
            report.add(Reason.IMAGE_NOT_FOUND, f"{job.rgb_dir}/{stem}")
            continue
        image.file_name = pictures[stem].name
        kept.append(image)
    ids = {image.id for image in kept}
    dataset.images = kept
    dataset.annotations = [annotation for annotation in dataset.annotations if annotation.image_id in ids]
    return dataset


def _why(report: Report) -> str:
    counts = [f"{finding.count} {MEANING[reason][1]}" for reason, finding in report]
    return f"Counted: {'; '.join(counts)}. " if counts else ""


def _split(whole: coco.Dataset, job: ConvertJob, report: Report) -> tuple[list[int], list[int]]:
    if job.is_parity:
        return shuffled(len(whole.images), job.train_split_rate)
    labels = whole.by_image()
    classes = [{annotation.category_id for annotation in labels[image.id]} for image in whole.images]
    split = stratified(classes, job.train_split_rate, seed=job.seed)
    names = whole.names()
    lonely = on_one_side(classes, split)
    report.add_many(Reason.CLASS_ON_ONE_SIDE, len(lonely), (f"{names[kind]} ({kind})" for kind in lonely))
    return split


def _sized_images(job: ConvertJob, wanted: set[str], report: Report, on_progress: Progress) -> list[SizedImage]:
    found, litter = list_images(job.images_dir, TIFF_SUFFIXES)
    report.add_many(Reason.LITTER, len(litter), (str(path) for path in litter))
    pictures = _pictures(job.rgb_dir)
    sized: list[SizedImage] = []
    for path in found:
        on_progress(1)
        if path.name not in wanted:
            continue
        picture = path if pictures is None else pictures.get(path.stem)
        try:
            if picture is None:
                raise InvalidInput(f"{path.name} has no picture in {job.rgb_dir}; run `resolute data rgb`")
            sized.append(SizedImage(path.name, picture.name, *image_size(picture)))
        except ResoluteError as problem:
            report.add(Reason.IMAGE_UNREADABLE, str(problem))
    return sized


def _pictures(folder: Path | None) -> dict[str, Path] | None:
    if folder is None:
        return None
    found, _ = list_images(folder, _RGB_SUFFIXES)
    # PNG wins where a stem has several pictures: it is without loss.
    return {path.stem: path for path in sorted(found, key=lambda p: p.suffix.lower() == ".png")}
