"""The label file of a tiled set, from what the workers brought back. Pure."""

from resolute.imagery.coco import Annotation, Dataset, Image, number
from resolute.imagery.grid import tile_name
from resolute.imagery.tile_image import TiledImage


def assemble(source: Dataset, parts: list[TiledImage], suffix: str) -> Dataset:
    """Tiles in the order of their images, row by row; ids from 1, negatives that are left out take none."""
    result = Dataset(categories=source.categories)
    for part in parts:
        ids = _add_images(result, part, suffix)
        _add_annotations(result, part, ids)
    return result


def _add_images(result: Dataset, part: TiledImage, suffix: str) -> dict[int, int]:
    ids: dict[int, int] = {}
    for place, window in part.windows.items():
        ids[place] = len(result.images) + 1
        name = tile_name(part.stem, window, suffix)
        result.images.append(Image(height=window.height, width=window.width, id=ids[place], file_name=name))
    return ids


def _add_annotations(result: Dataset, part: TiledImage, ids: dict[int, int]) -> None:
    if part.labels is None:
        return
    labels = part.labels
    xywh = labels.boxes.copy()
    xywh[:, 2:] -= xywh[:, :2]
    columns = zip(labels.tile.tolist(), xywh.tolist(), labels.areas.tolist(), part.categories, part.crowds, strict=True)
    for row, (tile, box, area, category, crowd) in enumerate(columns):
        result.annotations.append(
            Annotation(
                iscrowd=crowd,
                image_id=ids[tile],
                bbox=box,
                segmentation=part.masks[row] if part.masks is not None else [],
                category_id=category,
                id=len(result.annotations) + 1,
                area=number(area),
            )
        )
