"""Makes the synthetic set of this example: images and labels like xView's, then COCO files, then tiles.

Each step is a command of `resolute data` as well; here they are called as functions, in the order of the README.
"""

import argparse
from pathlib import Path

from resolute import imagery

CLASSES = ("Fixed-wing Aircraft", "Small Aircraft", "Cargo Plane")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("/tmp/xview"))
    parser.add_argument("--images", type=int, default=16)
    parser.add_argument("--side", type=int, default=800, help="pixels of a large image")
    parser.add_argument("--objects", type=int, default=60, help="objects in a large image")
    parser.add_argument("--tile", type=int, default=160, help="pixels of a tile")
    prepare(parser.parse_args())


def prepare(options: argparse.Namespace) -> None:
    made = imagery.make_set(
        imagery.SynthJob(
            output_dir=options.out / "raw",
            images=options.images,
            width=options.side,
            height=options.side,
            objects_per_image=options.objects,
            classes=len(CLASSES),
        )
    )
    labels = imagery.convert_labels(
        imagery.ConvertJob(images_dir=made.images_dir, geojson_path=made.geojson_path, output_dir=options.out / "coco")
    )
    for path in (labels.train, labels.val):
        chosen = imagery.select(imagery.read_coco(path), imagery.Selection(classes=CLASSES), imagery.Report())
        imagery.write_coco(chosen, path)
        tiles = imagery.tile_set(
            imagery.TileJob(
                image_dir=made.images_dir,
                labels_path=path,
                output_dir=options.out / "tiles",
                slice_size=options.tile,
                overlap_ratio=0.1,
                min_area_ratio=0.3,
            )
        )
        print(f"{tiles.labels_path}: {tiles.images} tiles, {tiles.annotations} boxes")


if __name__ == "__main__":
    main()
