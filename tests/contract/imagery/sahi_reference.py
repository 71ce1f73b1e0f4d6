"""What the original scripts do, through SAHI itself. Run by a Python that has sahi 0.11.14; it needs nothing of ours.

python sahi_reference.py convert TIFFS PICTURES GEOJSON OUTPUT MAPPING NAMES RATE
python sahi_reference.py slice PICTURES LABELS OUTPUT SIZE OVERLAP IGNORE_NEGATIVES MIN_AREA_RATIO
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from PIL import Image
from sahi.scripts.slice_coco import slice as slice_set
from sahi.utils.coco import Coco, CocoAnnotation, CocoCategory, CocoImage
from sahi.utils.file import save_json


def convert(tiffs: str, pictures: str, geojson: str, output: str, mapping: str, names: str, rate: str) -> None:
    targets = json.loads(Path(mapping).read_text())
    titles = dict(line.split(":", 1) for line in Path(names).read_text().splitlines())
    coco = Coco()
    for key, title in titles.items():
        if key in targets:
            coco.add_category(CocoCategory(id=int(targets[key]), name=title))
    for name, labels in sorted(_by_picture(tiffs, geojson).items(), key=lambda pair: int(pair[0].split(".")[0])):
        width, height = Image.open(Path(pictures) / name).size
        image = CocoImage(file_name=name, height=height, width=width)
        for (x1, y1, x2, y2), key in labels:
            if key not in targets:
                continue
            box = [x1, y1, x2 - x1, y2 - y1]
            annotation = CocoAnnotation(bbox=box, category_id=int(targets[key]), category_name=titles[key])
            if annotation.area > 0:
                image.add_annotation(annotation)
        coco.add_image(image)
    sides = coco.split_coco_as_train_val(train_split_rate=float(rate))
    for side in ("train", "val"):
        save_json(sides[f"{side}_coco"].json, Path(output) / f"{side}.json")


def _by_picture(tiffs: str, geojson: str) -> dict[str, list[tuple[list[float], str]]]:
    there = {path.name for path in Path(tiffs).glob("*.tif")}
    found = defaultdict(list)
    for feature in json.loads(Path(geojson).read_text())["features"]:
        given = feature["properties"]
        # An empty string stops the original; everything else is as it does it.
        if given["bounds_imcoords"] in ([], "") or given["image_id"] not in there:
            continue
        numbers = [float(int(number)) for number in given["bounds_imcoords"].split(",")]
        box = numbers if len(numbers) == 4 else [0.0] * 4
        found[str(Path(given["image_id"]).with_suffix(".png"))].append((box, str(given["type_id"])))
    return found


def slice_tiles(
    pictures: str, labels: str, output: str, size: str, overlap: str, ignore_negatives: str, ratio: str
) -> None:
    slice_set(
        image_dir=pictures,
        dataset_json_path=labels,
        slice_size=int(size),
        overlap_ratio=float(overlap),
        ignore_negative_samples=ignore_negatives == "True",
        output_dir=output,
        min_area_ratio=float(ratio),
    )


if __name__ == "__main__":
    {"convert": convert, "slice": slice_tiles}[sys.argv[1]](*sys.argv[2:])
