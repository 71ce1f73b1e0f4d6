"""`resolute data stats | filter | check | show | convert`: looking at labels and changing them."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from resolute import imagery
from resolute.cli.command import Run, command, group
from resolute.cli.data_options import EITHER_DASH, ClassField, Crs, Layer, ReportFile, Workers, show_result
from resolute.cli.output import print_json, print_pairs, print_table
from resolute.cli.progress import progress_bar

app = group("Look at labels and change them.")

Labels = Annotated[Path, typer.Argument(metavar="LABELS", help="A COCO file.")]
Kind = Literal["coco", "yolo", "dota", "voc", "csv"]
SourceKind = Literal["auto", "map", "coco", "yolo", "dota", "voc", "csv"]


@command(app, "stats", context_settings=EITHER_DASH)
def stats(run: Run, labels: Labels) -> None:
    """Images, labels and areas of a set, by class."""
    with progress_bar("Reading labels"):
        found = imagery.statistics(imagery.read_coco(labels))
    if run.is_json:
        print_json(asdict(found))
        return
    pairs = {key.replace("_", " ").capitalize(): value for key, value in asdict(found).items() if key != "classes"}
    print_pairs(pairs)
    print()
    rows = [
        (c.id, c.name, c.images, c.annotations, f"{c.min_area:.0f}", f"{c.mean_area:.0f}", f"{c.max_area:.0f}")
        for c in sorted(found.classes, key=lambda c: -c.annotations)
    ]
    print_table(("Id", "Class", "Images", "Labels", "Min area", "Mean area", "Max area"), rows)


@command(app, "filter", context_settings=EITHER_DASH)
def filter_labels(
    run: Run,
    labels: Labels,
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="The COCO file to write.")],
    classes: Annotated[
        list[str] | None, typer.Option("--class", "-c", help="Name or id of a class to keep; may be repeated.")
    ] = None,
    min_area: Annotated[float, typer.Option("--min-area", help="Smallest area in pixels.")] = 0.0,
    max_area: Annotated[float, typer.Option("--max-area", help="Largest area in pixels.")] = float("inf"),
    keep_negatives: Annotated[bool, typer.Option("--keep-negatives", help="Keep images without labels.")] = False,
    renumber: Annotated[bool, typer.Option("--renumber", help="Number the classes from 1, as given.")] = False,
    report: ReportFile = None,
) -> None:
    """Keep a part of a set, by class and by area."""
    selection = imagery.Selection(
        classes=tuple(classes) if classes else None,
        min_area=min_area,
        max_area=max_area,
        keeps_negatives=keep_negatives,
        renumbers=renumber,
    )
    tally = imagery.Report()
    with progress_bar("Choosing labels"):
        chosen = imagery.select(imagery.read_coco(labels, tally), selection, tally)
        imagery.write_coco(chosen, output)
    pairs = {"Labels": str(output), "Images": len(chosen.images), "Boxes": len(chosen.annotations)}
    show_result(run, {**pairs, "Classes": len(chosen.categories)}, tally, report)


@command(app, "check", context_settings=EITHER_DASH)
def check(
    run: Run,
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="A COCO file, or xView's GeoJSON.")],
    image_dir: Annotated[Path | None, typer.Option("--image-dir", help="Folder of the images.")] = None,
    deep: Annotated[bool, typer.Option("--deep", help="Decode every pixel, not only the headers.")] = False,
    mapping: Annotated[Path | None, typer.Option("--category-id-remapping", help="For GeoJSON.")] = None,
    names: Annotated[Path | None, typer.Option("--xview-class-labels", help="For GeoJSON.")] = None,
    workers: Workers = None,
    report: ReportFile = None,
) -> None:
    """Find every defect of a set, with counts and examples. Exit code 1 when there is any."""
    with progress_bar("Checking", None, "images") as on_progress:
        found = imagery.check_labels(
            labels,
            image_dir,
            is_deep=deep,
            classes=imagery.read_classes(mapping, names),
            workers=workers,
            on_progress=on_progress,
        )
    show_result(run, {"Images": found.images, "Labels": found.annotations}, found.report, report)
    if found.report:
        raise typer.Exit(1)


@command(app, "show", context_settings=EITHER_DASH)
def show(
    run: Run,
    labels: Labels,
    image_dir: Annotated[Path, typer.Option("--image-dir", help="Folder of the images.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The PNG to write.")] = Path("sheet.png"),
    count: Annotated[int, typer.Option("--count", "-n", help="How many images.")] = 16,
    columns: Annotated[int, typer.Option("--columns", help="Images side by side.")] = 4,
    cell: Annotated[int, typer.Option("--cell", help="Side of an image on the sheet in pixels.")] = 320,
    seed: Annotated[int | None, typer.Option("--seed", help="Take a sample instead of the first ones.")] = None,
    plain: Annotated[bool, typer.Option("--no-names", help="Boxes without class names.")] = False,
) -> None:
    """Draw a sheet of images with their boxes."""
    job = imagery.ShowJob(
        labels_path=labels,
        image_dir=image_dir,
        output_path=output,
        count=count,
        columns=columns,
        cell=cell,
        seed=seed,
        has_names=not plain,
    )
    with progress_bar("Drawing"):
        shown, report = imagery.show(job)
    show_result(run, {"Sheet": str(output), "Images": shown}, report)


@command(app, "convert", context_settings=EITHER_DASH)
def convert(
    run: Run,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A file of labels, or a folder of them.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A COCO or CSV file, or a folder to write.")],
    source_kind: Annotated[SourceKind, typer.Option("--from", help="Format of SOURCE; told by its looks.")] = "auto",
    target_kind: Annotated[Kind, typer.Option("--to", help="Format of TARGET.")] = "coco",
    image_dir: Annotated[Path | None, typer.Option("--image-dir", help="For all but COCO and VOC: the images.")] = None,
    layer: Layer = None,
    class_field: ClassField = None,
    crs: Crs = None,
    report: ReportFile = None,
) -> None:
    """Labels between COCO, YOLO, DOTA, Pascal VOC and CSV; and from polygons in map coordinates."""
    tally = imagery.Report()
    options = imagery.LabelOptions(layer=layer, class_field=class_field, crs=crs)
    found = imagery.detect_labels(source) if source_kind == "auto" else source_kind
    with progress_bar("Converting"):
        dataset = imagery.load_dataset(found, source, image_dir, tally, options)
        imagery.save_dataset(target_kind, dataset, target, tally)
    pairs = {"Labels": str(target), "Images": len(dataset.images), "Boxes": len(dataset.annotations)}
    show_result(run, {**pairs, "Classes": len(dataset.categories)}, tally, report)
