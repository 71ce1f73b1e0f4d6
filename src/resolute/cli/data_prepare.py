"""`resolute data synth | rgb | coco | tile`: the way from raw imagery to tiles."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from resolute import imagery
from resolute.cli.command import Run, command, group
from resolute.cli.data_options import (
    EITHER_DASH,
    ClassField,
    Crs,
    Layer,
    OptionalValues,
    ReportFile,
    Workers,
    as_bool,
    show_result,
    with_choices,
)
from resolute.cli.progress import progress_bar
from resolute.domain.errors import InvalidInput

app = group("From raw imagery to tiles.")

Format = Literal["png", "jpg"]
LabelKind = Literal["auto", "xview", "map", "coco", "yolo", "voc", "dota", "csv"]
Bands = Annotated[str | None, typer.Option("--bands", metavar="R,G,B", help="Bands from 1, such as 5,3,2.")]
Stretch = Annotated[
    Literal["auto", "none", "minmax", "percentile"],
    typer.Option("--stretch", help="To 8 bits: auto stretches only what has more."),
]
Percentiles = Annotated[str, typer.Option("--percentiles", metavar="LOW,HIGH", help="Ends of the stretch.")]
Limits = Annotated[
    str | None,
    typer.Option("--limits", metavar="LOW,HIGH", help="Values that become black and white in every image alike."),
]
Quality = Annotated[int, typer.Option("--quality", help="JPEG quality, 1 to 100.")]
Chroma = Annotated[Literal["444", "420"], typer.Option("--chroma", help="JPEG colour resolution: full or a quarter.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Make again what is there.")]
Parity = Annotated[bool, typer.Option("--parity", help="Exactly as the original script.")]


@command(app, "synth", context_settings=EITHER_DASH)
def synth(
    run: Run,
    output_dir: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write the set.")],
    images: Annotated[int, typer.Option("--images", "-n", help="How many images.")] = 12,
    size: Annotated[str, typer.Option("--size", metavar="N|WxH", help="Pixels of an image.")] = "1024",
    objects: Annotated[int, typer.Option("--objects", help="Objects in an image.")] = 60,
    classes: Annotated[int, typer.Option("--classes", help="How many of the 60 classes.")] = 60,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same set.")] = 0,
    bits: Annotated[int, typer.Option("--bits", help="8 or 16 a band.")] = 8,
    bands: Annotated[int, typer.Option("--band-count", help="3 to 8 bands.")] = 3,
    defects: Annotated[int, typer.Option("--defects", help="How often each kind of label fault occurs.")] = 1,
    workers: Workers = None,
) -> None:
    """Make a set that looks like xView: GeoTIFFs with 60 classes of shapes, and GeoJSON with real faults."""
    width, height = _size(size)
    job = imagery.SynthJob(
        output_dir=output_dir,
        images=images,
        width=width,
        height=height,
        objects_per_image=objects,
        classes=classes,
        seed=seed,
        bits=bits,
        bands=bands,
        defect_rounds=defects,
        workers=workers,
    )
    with progress_bar("Drawing", images, "images") as on_progress:
        made = imagery.make_set(job, on_progress)
    pairs = {"Images": made.images, "Folder": str(made.images_dir), "Labels": str(made.geojson_path)}
    run.describe(
        {**pairs, "Features": made.features, "Faulty": made.defects},
        {"images": made.images, "folder": str(made.images_dir), "labels": str(made.geojson_path)}
        | {"features": made.features, "faulty": made.defects},
    )


@command(app, "rgb", context_settings=EITHER_DASH)
def rgb(
    run: Run,
    input_dir: Annotated[Path, typer.Option("--input-dir", help="Folder of TIFF files.")],
    out_dir: Annotated[Path, typer.Option("--out-dir", help="Folder for the pictures.")],
    format: Annotated[Format, typer.Option("--format", help="png is without loss.")] = "png",
    quality: Quality = 95,
    chroma: Chroma = "444",
    bands: Bands = None,
    stretch: Stretch = "auto",
    percentiles: Percentiles = "2,98",
    limits: Limits = None,
    overwrite: Overwrite = False,
    workers: Workers = None,
    report: ReportFile = None,
) -> None:
    """TIFF of any depth to PNG or JPEG. What is done is skipped; a bad file is reported, and the rest goes on."""
    job = imagery.RgbJob(
        input_dir=input_dir,
        output_dir=out_dir,
        options=with_choices(None, bands, stretch, percentiles, limits),
        encoding=_encoding(format, quality, chroma),
        is_overwriting=overwrite,
        workers=workers,
    )
    total = len(imagery.list_images(input_dir, (".tif", ".tiff"))[0])
    with progress_bar("Converting", total, "images") as on_progress:
        done = imagery.convert_to_rgb(job, on_progress)
    failed = done.report.count(imagery.Reason.IMAGE_UNREADABLE)
    pairs = {"Written": done.written, "Skipped": done.skipped, "Failed": failed, "Folder": str(out_dir)}
    show_result(run, pairs, done.report, report)
    if failed and not done.written + done.skipped:
        raise typer.Exit(1)


@command(app, "coco", context_settings=EITHER_DASH)
def coco(
    run: Run,
    images_dir: Annotated[Path, typer.Option("--train-images-dir", "--images", help="Folder of the images.")],
    labels: Annotated[
        Path, typer.Option("--train-geojson-path", "--labels", help="Labels of any format: a file, or a folder.")
    ],
    output_dir: Annotated[Path, typer.Option("--output-dir", help="Where train.json and val.json go.")],
    rgb_dir: Annotated[
        Path | None, typer.Option("--train-images-dir-rgb", help="Folder of the pictures; left out: TIFF names stay.")
    ] = None,
    rate: Annotated[float, typer.Option("--train-split-rate", help="Share of images that train.")] = 0.75,
    mapping: Annotated[
        Path | None, typer.Option("--category-id-remapping", help="JSON, class id to category id; default xView's.")
    ] = None,
    names: Annotated[
        Path | None, typer.Option("--xview-class-labels", help="Lines of id:name; default xView's.")
    ] = None,
    kind: Annotated[LabelKind, typer.Option("--from", help="Format of the labels; told by their looks.")] = "auto",
    layer: Layer = None,
    class_field: ClassField = None,
    crs: Crs = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the split.")] = 0,
    parity: Parity = False,
    report: ReportFile = None,
) -> None:
    """Labels to COCO, split so that rare classes reach both sides. Every dropped or changed label is counted.

    Labels: xView's GeoJSON; polygons in map coordinates (GeoJSON, GeoPackage, shapefile, CSV with WKT); COCO, YOLO,
    Pascal VOC, DOTA; boxes in the columns of a CSV file.
    """
    job = imagery.ConvertJob(
        images_dir=images_dir,
        geojson_path=labels,
        kind=kind,
        options=imagery.LabelOptions(layer=layer, class_field=class_field, crs=crs),
        output_dir=output_dir,
        rgb_dir=rgb_dir,
        train_split_rate=rate,
        seed=seed,
        is_parity=parity,
        classes=imagery.read_classes(mapping, names),
    )
    total = len(imagery.list_images(images_dir)[0])
    with progress_bar("Measuring images", total, "images") as on_progress:
        done = imagery.convert_labels(job, on_progress)
    pairs = {
        "Train": str(done.train),
        "Train images": done.images[0],
        "Train labels": done.annotations[0],
        "Val": str(done.val),
        "Val images": done.images[1],
        "Val labels": done.annotations[1],
    }
    show_result(run, pairs, done.report, report)


@command(app, "tile", cls=OptionalValues, context_settings=EITHER_DASH)
def tile(
    run: Run,
    image_dir: Annotated[Path, typer.Option("--image-dir", help="Folder of the images that the labels name.")],
    train_json: Annotated[Path | None, typer.Option("--train-dataset-json-path", help="COCO file to tile.")] = None,
    val_json: Annotated[
        Path | None, typer.Option("--val-dataset-json-path", help="Another one; default val.json beside.")
    ] = None,
    train_dir: Annotated[Path | None, typer.Option("--output-train-dir", help="Where its tiles go.")] = None,
    val_dir: Annotated[Path | None, typer.Option("--output-val-dir", help="Where the other's tiles go.")] = None,
    slice_size: Annotated[int, typer.Option("--slice-size", help="Side of a tile in pixels.")] = 300,
    overlap_ratio: Annotated[float, typer.Option("--overlap-ratio", help="Shared by neighbours.")] = 0.2,
    ignore_negatives: Annotated[
        str, typer.Option("--ignore-negative-samples", metavar="[True|False]", help="Leave out tiles without labels.")
    ] = "True",
    min_area_ratio: Annotated[
        float, typer.Option("--min-area-ratio", help="Part of a label that must lie in the tile.")
    ] = 0.1,
    format: Annotated[Format, typer.Option("--format", help="png is without loss.")] = "jpg",
    quality: Quality = 95,
    chroma: Chroma = "444",
    bands: Bands = None,
    stretch: Stretch = "auto",
    percentiles: Percentiles = "2,98",
    limits: Limits = None,
    parity: Parity = False,
    overwrite: Overwrite = False,
    workers: Workers = None,
    report: ReportFile = None,
) -> None:
    """Cut images and labels into tiles. Reads by windows, works in parallel, goes on where it was stopped."""
    keeps_negatives = not as_bool(ignore_negatives, "--ignore-negative-samples")
    options, encoding = with_choices(None, bands, stretch, percentiles, limits), _encoding(format, quality, chroma)
    jobs = [
        imagery.TileJob(
            image_dir=image_dir,
            labels_path=labels,
            output_dir=target,
            slice_size=slice_size,
            overlap_ratio=overlap_ratio,
            min_area_ratio=min_area_ratio,
            keeps_negatives=keeps_negatives,
            encoding=encoding,
            options=options,
            is_parity=parity,
            is_overwriting=overwrite,
            workers=workers,
        )
        for labels, target in _tile_pairs(train_json, train_dir, val_json, val_dir)
    ]
    _tile_all(run, jobs, report)


def _tile_all(run: Run, jobs: "list[imagery.TileJob]", report_file: Path | None) -> None:
    whole, rows = imagery.Report(), []
    for job, parts in zip(jobs, imagery.plan_tiling(jobs), strict=True):
        with progress_bar(f"Tiling {job.labels_path.stem}", parts, "images") as on_progress:
            done = imagery.tile_set(job, on_progress)
        whole.merge(done.report)
        rows.append(done)
    pairs: dict[str, object] = {}
    for job, done in zip(jobs, rows, strict=True):
        name = job.labels_path.stem.capitalize()
        pairs |= {f"{name} labels": str(done.labels_path), f"{name} folder": str(done.images_dir)}
        pairs |= {f"{name} tiles": done.images, f"{name} boxes": done.annotations}
        pairs |= {f"{name} written": done.written, f"{name} skipped": done.skipped}
    show_result(run, pairs, whole, report_file)
    if not any(done.images for done in rows):
        raise typer.Exit(1)


def _tile_pairs(
    train_json: Path | None, train_dir: Path | None, val_json: Path | None, val_dir: Path | None
) -> list[tuple[Path, Path]]:
    pairs = []
    for side, labels, target in (("train", train_json, train_dir), ("val", val_json, val_dir)):
        if labels is None and target is None:
            continue
        if side == "val" and labels is None and train_json is not None:
            labels = _beside(train_json)
            if labels is None:
                continue
        if labels is None or target is None:
            missing = f"--{side}-dataset-json-path" if labels is None else f"--output-{side}-dir"
            raise InvalidInput(f"{missing} is missing: labels and the folder for their tiles are given together.")
        pairs.append((labels, target))
    if not pairs:
        raise InvalidInput("There is nothing to tile. Give --train-dataset-json-path and --output-train-dir.")
    return pairs


def _beside(train_json: Path) -> Path | None:
    """A folder for validation tiles without labels means the `val.json` that `data coco` wrote beside `train.json`."""
    found = train_json.with_name("val.json")
    return found if found.exists() and found != train_json else None


def _encoding(format: str, quality: int, chroma: str) -> "imagery.Encoding":
    return imagery.Encoding(imagery.PictureFormat(format), quality=quality, chroma=imagery.Chroma(chroma))


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    try:
        return int(width), int(height or width)
    except ValueError:
        raise InvalidInput(f"--size is {text!r}. Write one number, or two such as 2000x1500.") from None
