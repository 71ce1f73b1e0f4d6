"""`data rgb`: every TIFF of a folder becomes a PNG or JPEG of the same stem.

What is done is skipped; a file that cannot be read is reported and does not stop the rest.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.encoding import Encoding, PictureFormat, encode
from resolute.imagery.files import TIFF_SUFFIXES, list_images, make_folder, write_atomic
from resolute.imagery.geometry import Window
from resolute.imagery.origins import read_origin
from resolute.imagery.preprocessing import Origin, Preprocessing, note_mixed, read_record, write_record
from resolute.imagery.raster import open_raster
from resolute.imagery.render_options import RenderOptions
from resolute.imagery.rendering import plan, render
from resolute.imagery.report import Reason, Report
from resolute.imagery.workers import Progress, run_all


@dataclass(frozen=True, kw_only=True)
class RgbJob:
    input_dir: Path
    output_dir: Path
    options: RenderOptions = field(default_factory=RenderOptions)
    encoding: Encoding = field(default_factory=lambda: Encoding(PictureFormat.PNG))
    is_overwriting: bool = False
    workers: int | None = None


@dataclass(frozen=True)
class RgbResult:
    written: int
    skipped: int
    report: Report


@dataclass(frozen=True)
class _Task:
    source: Path
    target: Path
    options: RenderOptions
    encoding: Encoding


def convert_to_rgb(job: RgbJob, on_progress: Progress = lambda _: None) -> RgbResult:
    """Raises only when the folder is not there or has no TIFF."""
    sources, litter = list_images(job.input_dir, TIFF_SUFFIXES)
    if not sources:
        raise InvalidInput(f"{job.input_dir} has no .tif or .tiff file. Check the path.")
    report = Report()
    report.add_many(Reason.LITTER, len(litter), map(str, litter))
    make_folder(job.output_dir)
    origins = [origin for origin in map(_origin, sources) if origin is not None]
    note_mixed(origins, report)
    every = [_Task(p, job.output_dir / (p.stem + job.encoding.suffix), job.options, job.encoding) for p in sources]
    if _was_made_otherwise(job):
        # Before the new record is written: a run that is cut off must not leave pictures of the old one beside it.
        for task in every:
            task.target.unlink(missing_ok=True)
    write_record(job.output_dir, Preprocessing.of(job.options, origins))
    tasks = [task for task in every if job.is_overwriting or not is_up_to_date(task.source, task.target)]
    on_progress(len(every) - len(tasks))
    written = 0
    for _, problem in run_all(_convert, tasks, workers=job.workers):
        on_progress(1)
        if problem is None:
            written += 1
        else:
            report.add(Reason.IMAGE_UNREADABLE, problem)
    return RgbResult(written, len(every) - len(tasks), report)


def _was_made_otherwise(job: RgbJob) -> bool:
    before = read_record(job.output_dir)
    return before is not None and replace(before.options, nodata=None) != replace(job.options, nodata=None)


def is_up_to_date(source: Path, target: Path) -> bool:
    """The picture is there and not older than what it was made from."""
    return target.exists() and target.stat().st_mtime >= source.stat().st_mtime


def _convert(task: _Task) -> str | None:
    """None, or why it could not be done."""
    try:
        rendering = plan(task.source, task.options)
        with open_raster(task.source) as raster:
            pixels = raster.read(Window(0, 0, raster.width, raster.height), rendering.bands)
            write_atomic(task.target, encode(render(pixels, rendering), task.encoding))
    except (InvalidInput, NotFound) as problem:
        return str(problem)
    return None


def _origin(source: Path) -> Origin | None:
    """None for a file that cannot be read; it has been reported."""
    try:
        return read_origin(source)
    except (InvalidInput, NotFound):
        return None
