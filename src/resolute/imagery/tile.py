"""`data tile`: large images and their COCO labels become tiles and a COCO file of the tiles.

Images are read by bands of tile rows, so memory is flat however large a file is. Work is spread over processes; a tile
that is there is not made again; one unreadable image never stops the run.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from resolute.domain.errors import InvalidInput
from resolute.imagery import coco
from resolute.imagery.collector import paused_collector
from resolute.imagery.encoding import PARITY_ENCODING, Encoding
from resolute.imagery.files import existing_folder, make_folder, write_atomic
from resolute.imagery.grid import Grid, check_tiling, folder_names, parse_tile_name
from resolute.imagery.preprocessing import compose, note_mixed, read_record, write_record
from resolute.imagery.render_options import RenderOptions
from resolute.imagery.report import Reason, Report
from resolute.imagery.tile_assembly import assemble
from resolute.imagery.tile_image import ImageTask, TiledImage, tile_image
from resolute.imagery.workers import Progress, run_all


@dataclass(frozen=True, kw_only=True)
class TileJob:
    """`keeps_negatives`: also tiles without any label. Parity writes their pictures in any case, as SAHI does."""

    image_dir: Path
    labels_path: Path
    output_dir: Path
    slice_size: int = 300
    overlap_ratio: float = 0.2
    min_area_ratio: float = 0.1
    keeps_negatives: bool = False
    encoding: Encoding = field(default_factory=Encoding)
    options: RenderOptions = field(default_factory=RenderOptions)
    is_parity: bool = False
    is_overwriting: bool = False
    workers: int | None = None
    part_pixels: int = 400_000_000
    """An image beyond this is cut into parts, so that several processes share it."""

    def __post_init__(self) -> None:
        check_tiling(self.slice_size, self.overlap_ratio)
        if not 0 <= self.min_area_ratio <= 1:
            raise InvalidInput(
                f"The min area ratio is {self.min_area_ratio}. It must lie between 0 and 1, such as 0.1."
            )


@dataclass(frozen=True)
class TileResult:
    images_dir: Path
    labels_path: Path
    images: int
    annotations: int
    written: int
    skipped: int
    megapixels: float
    report: Report


def tile_set(job: TileJob, on_progress: Progress = lambda _: None) -> TileResult:
    """Progress counts images. Raises when the labels cannot be read; anything smaller is in the report."""
    existing_folder(job.image_dir)
    report = Report()
    before = read_record(job.image_dir)
    compose(before, job.options, (), job.image_dir)
    source = coco.read(job.labels_path, report)
    if job.is_parity:
        job = replace(job, encoding=PARITY_ENCODING)
    folder, labels_name = folder_names(job.labels_path.stem, job.slice_size, job.overlap_ratio)
    images_dir = make_folder(job.output_dir / folder)
    record = job.output_dir / f".{folder}.settings.json"
    stems = _stems(source, is_parity=job.is_parity)
    is_resuming = not job.is_overwriting and _same_settings(record, job)
    if not is_resuming:
        # Before the new settings are written down: a run that is cut off must not be resumed with tiles of old ones.
        _remove_tiles(images_dir, set(stems.values()), job.encoding.suffix)
    write_atomic(record, msgspec.json.encode(_settings(job)))
    tasks = list(_tasks(job, source, stems, images_dir, report, is_resuming=is_resuming))
    parts: dict[int, TiledImage] = {}
    for index, part in run_all(tile_image, tasks, workers=job.workers):
        parts[index] = part
        report.merge(part.report)
        on_progress(1)
    torn = {part.stem for part in parts.values() if part.is_torn}
    _remove_tiles(images_dir, torn, job.encoding.suffix)
    ordered = [parts[index] for index in range(len(tasks)) if parts[index].stem not in torn]
    with paused_collector():
        dataset = assemble(source, ordered, job.encoding.suffix)
    coco.write(dataset, job.output_dir / labels_name)
    origins = [part.origin for part in ordered if part.origin is not None]
    note_mixed(origins, report)
    made = compose(before, job.options, origins, job.image_dir)
    write_record(images_dir, msgspec.structs.replace(made, tile_size=job.slice_size, overlap=job.overlap_ratio))
    return TileResult(
        images_dir,
        job.output_dir / labels_name,
        len(dataset.images),
        len(dataset.annotations),
        sum(part.written for part in ordered),
        sum(part.skipped for part in ordered),
        sum(part.pixels for part in ordered) / 1e6,
        report,
    )


def plan_tiling(jobs: Sequence[TileJob]) -> list[int]:
    """How often `tile_set` will report progress for each. Raises before anything is written: labels that cannot be
    read, and label files that give one class several names."""
    sources = [coco.read(job.labels_path, Report()) for job in jobs]
    first: dict[int, tuple[str, Path]] = {}
    for job, source in zip(jobs, sources, strict=True):
        for kind, name in source.names().items():
            known, place = first.setdefault(kind, (name, job.labels_path))
            if known != name:
                raise InvalidInput(
                    f"The class tables disagree: class {kind} is {known!r} in {place} and {name!r} in "
                    f"{job.labels_path}. Make both with one `resolute data coco`."
                )
    return [sum(_part_count(job, image) for image in source.images) for job, source in zip(jobs, sources, strict=True)]


def _remove_tiles(images_dir: Path, stems: set[str], suffix: str) -> None:
    """Of these images only. Writing new files is also faster than replacing old ones, which a file system may flush."""
    with os.scandir(images_dir) as entries:
        for entry in entries:
            tile = parse_tile_name(entry.name) if entry.name.endswith(suffix) else None
            if tile is not None and tile[0] in stems:
                os.unlink(entry.path)


def _tasks(
    job: TileJob, source: coco.Dataset, stems: dict[str, str], images_dir: Path, report: Report, *, is_resuming: bool
) -> Iterator[ImageTask]:
    _check_source(source, report)
    labels = source.by_image()
    seen: set[int] = set()
    for image in source.images:
        if image.id in seen:
            report.add(Reason.DUPLICATE_IMAGE_ID, f"{image.file_name}, id {image.id}")
            continue
        seen.add(image.id)
        parts = _part_count(job, image)
        for part in range(parts):
            yield ImageTask(
                path=job.image_dir / image.file_name,
                said_size=(image.width, image.height),
                labels=labels[image.id],
                stem=stems[image.file_name],
                target_dir=images_dir,
                slice_size=job.slice_size,
                overlap_ratio=job.overlap_ratio,
                min_area_ratio=job.min_area_ratio,
                writes_negatives=job.keeps_negatives or job.is_parity,
                lists_negatives=job.keeps_negatives,
                encoding=job.encoding,
                options=job.options,
                is_parity=job.is_parity,
                is_resuming=is_resuming,
                part=(part, parts),
            )


def _part_count(job: TileJob, image: coco.Image) -> int:
    rows = len(Grid(max(image.width, 1), max(image.height, 1), job.slice_size, job.overlap_ratio).rows)
    return max(1, min(rows, image.width * image.height // job.part_pixels))


def _check_source(source: coco.Dataset, report: Report) -> None:
    """Labels of classes without a name are taken out."""
    images, classes = {image.id for image in source.images}, {category.id for category in source.categories}
    strays = [a for a in source.annotations if a.image_id not in images]
    report.add_many(Reason.UNKNOWN_IMAGE_ID, len(strays), (f"annotation {a.id}, image id {a.image_id}" for a in strays))
    nameless = [a for a in source.annotations if a.category_id not in classes]
    report.add_many(
        Reason.UNKNOWN_CLASS, len(nameless), (f"annotation {a.id}, class {a.category_id}" for a in nameless)
    )
    if nameless:
        source.annotations = [a for a in source.annotations if a.category_id in classes]


def _stems(source: coco.Dataset, *, is_parity: bool) -> dict[str, str]:
    """Each file name's stem; where two names share one, the folder and the suffix are made part of it."""
    names = list(dict.fromkeys(image.file_name for image in source.images))
    users: dict[str, int] = {}
    for name in names:
        users[Path(name).stem] = users.get(Path(name).stem, 0) + 1
    return {
        name: Path(name).stem if is_parity or users[Path(name).stem] == 1 else name.replace("/", "_").replace(".", "_")
        for name in names
    }


def _settings(job: TileJob) -> dict[str, Any]:
    """What the pixels of a tile depend on beside its name."""
    return {"encoding": asdict(job.encoding), "options": asdict(job.options)}


def _same_settings(record: Path, job: TileJob) -> bool:
    try:
        return record.read_bytes() == msgspec.json.encode(_settings(job))
    except OSError:
        return False
