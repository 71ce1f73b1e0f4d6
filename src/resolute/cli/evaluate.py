"""`resolute evaluate`: COCO's numbers of a detector on a labelled folder."""

import sys
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
from resolute.cli.output import print_json, print_pairs, print_table
from resolute.cli.progress import progress_bar

if TYPE_CHECKING:
    from resolute.vision.evaluation import CocoEvaluator

app = group("Measure a detector.")


class IouType(StrEnum):
    BBOX = "bbox"
    SEGM = "segm"
    BOTH = "both"


@command(app, "evaluate", context_settings=EITHER_DASH)
def evaluate(
    run: Run,
    data: Annotated[Path, typer.Option("--data", metavar="FOLDER", help="The images.")],
    annotations: Annotated[Path, typer.Option("--annotations", metavar="JSON", help="Their labels, a COCO file.")],
    checkpoint: Checkpoint = None,
    model: Model = None,
    weights: Weights = None,
    iou_type: Annotated[IouType, typer.Option("--iou-type", help="Boxes, masks, or both.")] = IouType.BBOX,
    slice_size: Annotated[
        int | None,
        typer.Option("--slice-size", help="Look at larger images by windows of this side; that of the training."),
    ] = None,
    overlap: Annotated[float, typer.Option("--overlap", help="Share that windows have in common.")] = 0.2,
    score: Annotated[
        float | None, typer.Option("--score", help="Lowest score that counts; the model's own when left out.")
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Images looked at together.")] = 8,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write evaluation.json and pictures here.")
    ] = None,
    bands: Bands = None,
    stretch: Stretch = None,
    percentiles: Percentiles = None,
    limits: Limits = None,
    device: Device = "auto",
) -> None:
    """Measure a detector on labelled images: COCO's twelve numbers, then every class."""
    from resolute import vision
    from resolute.vision.detections import preprocessing_of
    from resolute.vision.evaluation import CocoEvaluator, as_document, write_evaluation
    from resolute.vision.evaluation.pictures import from_folder

    count = len(CocoEvaluator(annotations).truth.images)
    detector = open_detector(run, checkpoint=checkpoint, model=model, weights=weights, device=device)
    rendering = chosen_rendering(detector, bands, stretch, percentiles, limits)
    with progress_bar("Measuring", count, "images") as on_progress:
        found: CocoEvaluator = vision.evaluate(
            detector,
            data,
            annotations,
            iou_type=iou_type.value,
            batch_size=batch_size,
            score_threshold=score,
            slice_size=slice_size,
            overlap=overlap,
            rendering=rendering,
            on_progress=on_progress,
        )
    if out is not None:
        read = from_folder(found, data, preprocessing_of(detector), rendering)
        with progress_bar("Writing the evaluation"):
            write_evaluation(out, found, read_image=read)
    if run.is_json:
        print_json(as_document(found))
    else:
        _show(found)
    if found.unseen:
        names = ", ".join(found.truth.file_name(number) for number in found.unseen[:3])
        print(f"Error: {len(found.unseen)} image(s) could not be read, such as {names}.", file=sys.stderr)
        raise typer.Exit(1)


def _show(found: "CocoEvaluator") -> None:
    print_pairs({key: _number(value) for key, value in found.summary().items()})
    print()
    rows = [
        (c.id, c.name, c.count, c.detections, *map(_number, (c.ap, c.ap_50, c.ap_75, c.precision, c.recall)),
         _number(c.best_score))
        for c in found.per_class()
        if c.count or c.detections
    ]  # fmt: skip
    headers = ("Id", "Class", "Labels", "Found", "AP", "AP50", "AP75", "Precision", "Recall", "At score")
    print_table(headers, rows)
    print()
    print_table(
        ("Error", "Count", "AP50 lost"),
        [(kind, error.count, f"{error.lost_ap:.4f}") for kind, error in found.errors().items()],
    )


def _number(value: float) -> str | None:
    """COCO's -1 means that there was nothing to measure."""
    return None if value < 0 else f"{value:.4f}"
