"""The GeoJSON of a synthetic set, with the faults that real label files have. Pure."""

from typing import Any

import numpy as np

from resolute.imagery.synth.scene import Scene

PIXEL_DEGREES = 2.7e-6
"""About 0.3 m, as in xView."""
ORIGIN = (12.45, 41.9)
MISSING_IMAGE = "1395.tif"
NOISE_CLASSES = (75, 82)


def image_origin(place: int) -> tuple[float, float]:
    """Longitude and latitude of the upper left corner: images lie side by side, and do not overlap."""
    return ORIGIN[0] + 0.1 * (place % 100), ORIGIN[1] - 0.1 * (place // 100)


def features_of(scene: Scene, image_id: str, place: int) -> list[dict[str, Any]]:
    return [feature(image_id, thing.shape.type_id, thing.box, place) for thing in scene.objects]


def feature(image_id: str, type_id: int, box: tuple[int, int, int, int], place: int) -> dict[str, Any]:
    x1, y1, x2, y2 = box
    corners = [(x1, y1), (x2, y1), (x2, y2), (x1, y2), (x1, y1)]
    west, north = image_origin(place)
    ring = [[round(west + x * PIXEL_DEGREES, 8), round(north - y * PIXEL_DEGREES, 8)] for x, y in corners]
    return {
        "type": "Feature",
        "properties": {"bounds_imcoords": f"{x1},{y1},{x2},{y2}", "type_id": type_id, "image_id": image_id},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


def defects(rng: np.random.Generator, names: list[str], width: int, height: int, rounds: int) -> list[dict[str, Any]]:
    """`rounds` of each fault: empty, three numbers, inverted, zero, beyond the edge, noise classes, missing image."""
    found: list[dict[str, Any]] = []
    for _ in range(rounds):
        place = int(rng.integers(len(names)))
        x, y = int(rng.integers(0, max(1, width - 30))), int(rng.integers(0, max(1, height - 30)))
        box = (x, y, min(x + 20, width), min(y + 12, height))
        name = names[place]
        bounds: list[str | list[Any]] = [
            "",
            [],
            f"{x},{y},{x + 20}",
            f"{box[2]},{y},{x},{box[3]}",
            f"{x},{y},{x},{box[3]}",
            f"{width - 10},{y},{width + 15},{y + 12}",
            f"{width + 40},{y},{width + 60},{y + 12}",
        ]
        for text in bounds:
            faulty = feature(name, 18, box, place)
            faulty["properties"]["bounds_imcoords"] = text
            found.append(faulty)
        found.extend(feature(name, kind, box, place) for kind in NOISE_CLASSES)
        found.append(feature(MISSING_IMAGE, 18, box, place))
    return found
