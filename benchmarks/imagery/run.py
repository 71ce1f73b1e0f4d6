"""Tiling beside SAHI 0.11.14, windowed reads beside rasterio, GeoJSON beside the standard library.

    RESOLUTE_SAHI_PYTHON=.../bin/python python -m benchmarks.imagery.run [--images 12] [--size 3000] [--features 200000]

Prints a Markdown table. Both sides read the same files and write the same tiles (300 px, overlap 0.2, JPEG of quality
75) into folders that are empty, and pixels count as they are written. Ours is the best of `--rounds`, with the median
in brackets; SAHI runs once. Ours includes the start of the worker processes, SAHI's leaves out its imports.
Core-seconds are processor time of one process, which a busy machine disturbs less.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import cv2
import msgspec
import numpy as np
import rasterio
from rasterio.windows import Window as GdalWindow

from resolute.imagery.classes import xview_classes
from resolute.imagery.convert import ConvertJob, convert_labels
from resolute.imagery.encoding import Encoding
from resolute.imagery.geojson import parse, parse_bounds
from resolute.imagery.geometry import Window
from resolute.imagery.labels import SizedImage, convert
from resolute.imagery.raster import open_raster
from resolute.imagery.report import Report
from resolute.imagery.rgb import RgbJob, convert_to_rgb
from resolute.imagery.synth.make import SynthJob, make_set
from resolute.imagery.tile import TileJob, tile_set

SAHI = os.environ.get("RESOLUTE_SAHI_PYTHON", "")
DRIVER = """
import sys, time
from sahi.scripts.slice_coco import slice
print("started", time.monotonic(), flush=True)
slice(image_dir=sys.argv[1], dataset_json_path=sys.argv[2], slice_size=300, overlap_ratio=0.2,
      ignore_negative_samples=True, output_dir=sys.argv[3], min_area_ratio=0.1)
"""
WINDOWS = 400


def main() -> None:
    options = _options()
    print(f"{datetime.now(UTC):%Y-%m-%d}, {platform.processor() or platform.machine()}, {os.cpu_count()} cores, "
          f"load before {os.getloadavg()[0]:.1f}\n")  # fmt: skip
    print("| job | ours | peer | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        _tiling(Path(folder), options)
        _reading(Path(folder), options)
    _labels(options)


def _tiling(folder: Path, options: argparse.Namespace) -> None:
    side, count = options.size, options.images
    job = SynthJob(output_dir=folder, images=count, width=side, height=side, objects_per_image=side // 4)
    seconds = _timed(lambda: make_set(job))
    print(f"| draw {count} images of {side} px | {count * side * side / 1e6 / seconds:.0f} MPix/s | | |")
    tiffs = folder / "train_images"
    rgb = RgbJob(input_dir=tiffs, output_dir=folder / "png", is_overwriting=True)
    seconds = _timed(lambda: convert_to_rgb(rgb))
    print(f"| TIFF to PNG | {count * side * side / 1e6 / seconds:.0f} MPix/s | | |")
    for name, source in (("PNG", folder / "png"), ("TIFF strips", tiffs)):
        out = folder / f"out-{name.split()[0]}"
        rgb_dir = source if name == "PNG" else None
        labels = convert_labels(
            ConvertJob(
                images_dir=tiffs,
                geojson_path=folder / "xView_train.geojson",
                output_dir=out,
                rgb_dir=rgb_dir,
                train_split_rate=1.0,
            )
        ).train
        parity = TileJob(image_dir=source, labels_path=labels, output_dir=out, is_parity=True, workers=2)
        ours = _tiling_rates(parity, options.rounds, time.monotonic)
        alone = _tiling_rates(replace(parity, workers=1), options.rounds, time.process_time)
        theirs, their_cpu = _sahi(source, labels, folder / f"sahi-{out.name}")
        pixels = tile_set(parity).megapixels
        _row(f"tile {name} to JPEG q75, 2 processes", ours, pixels / theirs if theirs else 0.0, "MPix/s")
        _row("the same by core-second", alone, pixels / their_cpu if their_cpu else 0.0, "MPix")
    plain = TileJob(image_dir=tiffs, labels_path=labels, output_dir=out, encoding=Encoding(), workers=2)
    rates = _tiling_rates(plain, options.rounds, time.monotonic)
    print(f"| tile TIFF strips, our default (JPEG q95 4:4:4, no negatives) | {_shown(rates, 'MPix/s')} | | |")


def _tiling_rates(job: TileJob, rounds: int, clock: Callable[[], float]) -> list[float]:
    """Megapixels a second, each round into an empty folder: replacing files is slower, and SAHI replaces none."""
    rates = []
    for number in range(rounds):
        fresh = replace(job, output_dir=job.output_dir / f"{clock.__name__}-{job.encoding.quality}-{number}")
        start = clock()
        pixels = tile_set(fresh).megapixels
        rates.append(pixels / (clock() - start))
    return rates


def _sahi(source: Path, labels: Path, target: Path) -> tuple[float, float]:
    """Seconds on the clock and of processor time, imports left out of both."""
    if not SAHI:
        return 0.0, 0.0
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    before = os.times()
    subprocess.run([SAHI, "-c", DRIVER.split("slice(")[0]], capture_output=True, check=True, env=environment)
    between = os.times()
    command = [SAHI, "-c", DRIVER, str(source), str(labels), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    # Its threads write on until the process ends, so the end of the process is the end of the work.
    end, after = time.monotonic(), os.times()
    started = next(line for line in done.stdout.splitlines() if line.startswith("started"))
    importing = _children(between) - _children(before)
    return end - float(started.split()[1]), _children(after) - _children(between) - importing


def _children(times: os.times_result) -> float:
    return times.children_user + times.children_system


def _reading(folder: Path, options: argparse.Namespace) -> None:
    with rasterio.open(next((folder / "train_images").glob("[0-9]*.tif"))) as dataset:
        pixels = dataset.read()
    layouts: dict[str, dict[str, object]] = {
        "strips": {},
        "tiles": {"tiled": True, "blockxsize": 512, "blockysize": 512},
        "deflate tiles": {"tiled": True, "blockxsize": 512, "blockysize": 512, "compress": "deflate"},
    }
    rng = np.random.default_rng(0)
    places = rng.integers(0, options.size - 300, (WINDOWS, 2)).tolist()
    for name, layout in layouts.items():
        path = folder / "layout.tif"
        profile = {
            "driver": "GTiff",
            "width": options.size,
            "height": options.size,
            "count": 3,
            "dtype": "uint8",
            "interleave": "pixel",
            "photometric": "RGB",
            "crs": "EPSG:4326",
            "transform": rasterio.Affine(1e-6, 0, 0, 0, -1e-6, 0),
        }
        with rasterio.open(path, "w", **profile, **layout) as target:
            target.write(pixels)

        def ours(path: Path = path) -> None:
            with open_raster(path) as raster:
                for x, y in places:
                    np.ascontiguousarray(raster.read(Window(x, y, x + 300, y + 300)))

        def theirs(path: Path = path) -> None:
            with rasterio.open(path) as dataset:
                for x, y in places:
                    planes = dataset.read(window=GdalWindow(x, y, 300, 300))
                    np.ascontiguousarray(planes.transpose(1, 2, 0))

        def planes(path: Path = path) -> None:
            with rasterio.open(path) as dataset:
                for x, y in places:
                    dataset.read(window=GdalWindow(x, y, 300, 300))

        work = WINDOWS * 0.09
        # One thread on each side: processor time says as much as the clock, and a busy machine disturbs it less.
        times = _race(options.rounds + 1, ours, theirs, planes, clock=time.process_time)
        mine, other, bare = ([work / seconds for seconds in column] for column in times)
        _row(
            f"{WINDOWS} random 300 px windows as pictures, {name}, beside rasterio, by core-second",
            mine,
            max(other),
            "MPix",
        )
        _row("the same beside rasterio's bare planes", mine, max(bare), "MPix")


def _labels(options: argparse.Namespace) -> None:
    names = [f"{5 + 3 * place}.tif" for place in range(800)]
    features = [_feature(number, names) for number in range(options.features)]
    text = msgspec.json.encode({"type": "FeatureCollection", "features": features})
    images = [SizedImage(name, name, 3000, 3000) for name in names]
    table = xview_classes()

    def ours() -> None:
        report = Report()
        parse_bounds(parse(text, "labels", report), report)

    def standard() -> None:
        for feature in json.loads(text)["features"]:
            given = feature["properties"]
            _ = given["image_id"], given["type_id"], [int(number) for number in given["bounds_imcoords"].split(",")]

    def whole() -> None:
        report = Report()
        convert(parse(text, "labels", report), images, table, report)

    thousands = options.features / 1e3
    size = len(text) / options.features
    mine, other = ([thousands / s for s in times] for times in _race(options.rounds + 1, ours, standard))
    _row(f"GeoJSON features of {size:.0f} bytes to boxes, beside json", mine, max(other), "k/s")
    (busy,) = _race(options.rounds + 1, ours, clock=time.process_time)
    print(f"| the same by core-second | {_shown([thousands / s for s in busy], 'k')} | | |")
    (seconds,) = _race(options.rounds + 1, whole)
    print(
        f"| the same to a whole COCO set, checked and clipped | {_shown([thousands / s for s in seconds], 'k/s')} | | |"
    )


def _feature(number: int, names: list[str]) -> dict[str, object]:
    x, y = number % 2000, number % 1900
    west = -90.53169885 + number * 1e-6
    ring = [[west, 14.566036], [west, 14.565800], [-90.5314, 14.565800], [-90.5314, 14.566036], [west, 14.566036]]
    properties = {
        "bounds_imcoords": f"{x},{y},{x + 20},{y + 30}",
        "edited_by": "somebody",
        "cat_id": "1040010028371A00",
        "type_id": 18,
        "ingest_time": "2017/07/24 12:49:09.118+00:00",
        "index_id": number,
        "image_id": names[number % len(names)],
        "feature_id": number,
        "grid_file": "Grid2.shp",
    }
    return {"type": "Feature", "properties": properties, "geometry": {"type": "Polygon", "coordinates": [ring]}}


def _race(
    rounds: int, *runners: Callable[[], object], clock: Callable[[], float] = time.monotonic
) -> list[list[float]]:
    """Seconds of each in every round, taken in turns, so that a busy moment hits all alike."""
    times = [[_timed(work, clock) for work in runners] for _ in range(rounds)]
    return [list(column) for column in zip(*times, strict=True)]


def _timed(work: Callable[[], object], clock: Callable[[], float] = time.monotonic) -> float:
    start = clock()
    work()
    return clock() - start


def _row(job: str, ours: list[float], theirs: float, unit: str) -> None:
    """Rates: the best, and the median in brackets. The ratio is of the best."""
    peer, ratio = (f"{theirs:.0f} {unit}", f"{max(ours) / theirs:.1f}x") if theirs else ("not installed", "")
    print(f"| {job} | {_shown(ours, unit)} | {peer} | {ratio} |", flush=True)


def _shown(rates: list[float], unit: str) -> str:
    return f"{max(rates):.0f} ({median(rates):.0f}) {unit}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Imagery beside its peers.")
    parser.add_argument("--images", type=int, default=12)
    parser.add_argument("--size", type=int, default=3000)
    parser.add_argument("--features", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="Where the files go while it runs.")
    return parser.parse_args()


if __name__ == "__main__":
    cv2.setNumThreads(1)
    sys.exit(main())
