"""`resolute predict`: a trained detector over images of any size."""

import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.data_options import EITHER_DASH
from resolute.cli.detector_options import (
    Bands,
    Checkpoint,
    Device,
    Limits,
    Model,
    Percentiles,
    Stretch,
    Weights,
    chosen_rendering,
    open_detector,
)
from resolute.cli.output import print_json, print_table
from resolute.cli.progress import progress_bar
from resolute.domain.errors import InvalidInput

if TYPE_CHECKING:
    from resolute.vision.detections import Detector
    from resolute.vision.exports import DetectionFiles
    from resolute.vision.merging import Method
    from resolute.vision.prediction import Outcome

app = group("Find objects on images.")


class Merge(StrEnum):
    NMS = "nms"
    NMM = "nmm"
    GREEDY_NMM = "greedy-nmm"

    @property
    def method(self) -> "Method":
        names: dict[Merge, Method] = {Merge.NMS: "nms", Merge.NMM: "nmm", Merge.GREEDY_NMM: "greedy_nmm"}
        return names[self]


class Metric(StrEnum):
    IOU = "iou"
    IOS = "ios"


@dataclass(frozen=True)
class _Shown:
    """What is printed of an image: its detections are not held until the last image is done."""

    document: dict[str, object] | None
    """As JSON, where that was asked for."""
    row: tuple[object, ...]
    problem: str | None
    warning: str | None

    @classmethod
    def of(cls, outcome: "Outcome", run: Run) -> "_Shown":
        document = outcome.as_dict() if run.is_json else None
        return cls(document, _row(outcome), outcome.problem, outcome.warning())


@command(app, "predict", context_settings=EITHER_DASH)
def predict(
    run: Run,
    images: Annotated[list[str], typer.Argument(metavar="IMAGE...", help="Files, folders, or patterns in quotes.")],
    checkpoint: Checkpoint = None,
    model: Model = None,
    weights: Weights = None,
    deployment: Annotated[
        str | None, typer.Option("--deployment", metavar="NAME", help="A model that is being served.")
    ] = None,
    slice_size: Annotated[
        int | None, typer.Option("--slice-size", help="Side of the windows in pixels; that of the training, else 640.")
    ] = None,
    overlap: Annotated[float, typer.Option("--overlap", help="Share that windows have in common.")] = 0.2,
    score: Annotated[float, typer.Option("--score", help="Lowest score that counts.")] = 0.25,
    merge: Annotated[Merge, typer.Option("--merge", help="How windows are joined.")] = Merge.GREEDY_NMM,
    metric: Annotated[Metric, typer.Option("--metric", help="What overlap means.")] = Metric.IOS,
    threshold: Annotated[float, typer.Option("--threshold", help="Overlap from which boxes are joined.")] = 0.5,
    class_agnostic: Annotated[bool, typer.Option("--class-agnostic", help="Join across classes.")] = False,
    full_image: Annotated[bool, typer.Option(help="Also look at the whole image, made small.")] = True,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Windows looked at together.")] = 8,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where results go.")] = Path("predictions"),
    coco: Annotated[bool, typer.Option("--coco", help="Write all detections to detections.json.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Write all detections to detections.csv.")] = False,
    gpkg: Annotated[bool, typer.Option("--gpkg", help="Write all detections to detections.gpkg.")] = False,
    geojson: Annotated[bool, typer.Option("--geojson", help="Write the detections of each image as GeoJSON.")] = False,
    draw: Annotated[bool, typer.Option("--draw/--no-draw", help="Draw the detections of each image.")] = True,
    bands: Bands = None,
    stretch: Stretch = None,
    percentiles: Percentiles = None,
    limits: Limits = None,
    device: Device = "auto",
) -> None:
    """Find objects on images, draw them, and write them down.

    Exit code 1 when an image could not be read.
    """
    from resolute.imagery.georeference import read_georeference
    from resolute.vision.exports import DetectionFiles
    from resolute.vision.prediction import PredictJob, count_windows, expand_images, predict_files, sized_for
    from resolute.vision.slicing import MergeSettings

    job = PredictJob(
        images=expand_images(images),
        output_dir=out,
        slice_size=slice_size,
        overlap=overlap,
        batch_size=batch_size,
        score_threshold=score,
        full_image=full_image,
        merging=MergeSettings(
            method=merge.method, metric=metric.value, threshold=threshold, class_agnostic=class_agnostic
        ),
        draws=draw,
        writes_geojson=geojson,
    )
    detector = _detector(run, deployment, checkpoint=checkpoint, model=model, weights=weights, device=device)
    rendering = chosen_rendering(detector, bands, stretch, percentiles, limits)
    job = sized_for(detector, replace(job, rendering=rendering))
    shown: list[_Shown] = []
    formats = [name for name, is_wanted in (("coco", coco), ("csv", csv), ("gpkg", gpkg)) if is_wanted]
    with DetectionFiles(out, formats) as files, progress_bar("Looking", count_windows(job), "windows") as progress:

        def told(step: str) -> None:
            progress.note = f"file {len(shown) + 1} of {len(job.images)}, {step}"

        for outcome in predict_files(detector, job, progress, told):
            if outcome.found is not None:
                place = read_georeference(outcome.image) if gpkg else None
                files.add(outcome.image.name, outcome.found, outcome.classes, place)
            shown.append(_Shown.of(outcome, run))
    _tell_files(run, files)
    _show(run, shown)


def _detector(
    run: Run, deployment: str | None, *, checkpoint: str | None, model: str | None, weights: Path | None, device: str
) -> "Detector":
    if deployment is None:
        return open_detector(run, checkpoint=checkpoint, model=model, weights=weights, device=device)
    if checkpoint or model or weights:
        raise InvalidInput("--deployment serves one model already. Leave --checkpoint, --model and --weights out.")
    from resolute.vision.remote import DeployedDetector

    return DeployedDetector(run.client.session, deployment)


def _tell_files(run: Run, files: "DetectionFiles") -> None:
    if files.left_out:
        print(
            f"Warning: {len(files.left_out)} image(s) do not say where on earth they lie and are not in the "
            f"GeoPackage, such as {files.left_out[0]}.",
            file=sys.stderr,
        )
    if files.written and not run.is_json:
        typer.echo(f"Wrote {', '.join(map(str, files.written))}")


def _show(run: Run, shown: list[_Shown]) -> None:
    if run.is_json:
        print_json({"images": [each.document for each in shown]})
    else:
        print_table(("Image", "Found", "Best", "Written"), [each.row for each in shown if each.problem is None])
    for each in shown:
        if each.warning is not None:
            print(f"Warning: {each.warning}", file=sys.stderr)
    failed = [each.problem for each in shown if each.problem is not None]
    for problem in failed:
        print(f"Error: {problem}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def _row(outcome: "Outcome") -> tuple[object, ...]:
    written = [str(path) for path in (outcome.picture, outcome.geojson) if path is not None]
    return outcome.image, len(outcome.found or ()), outcome.best(), written
