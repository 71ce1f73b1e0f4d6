"""Synthetic tasks with learning curves: multi-fidelity Hartmann, and curves that mislead early stopping."""

import math
import random
from collections.abc import Callable

from benchmarks.search.task import MAX_EPOCHS, Dimension, Point, Task, noise

_WEIGHTS = (1.0, 1.2, 3.0, 3.2)
_SCALES = {
    3: ((3.0, 10, 30), (0.1, 10, 35), (3.0, 10, 30), (0.1, 10, 35)),
    6: ((10, 3, 17, 3.5, 1.7, 8), (0.05, 10, 17, 0.1, 8, 14), (3, 3.5, 1.7, 10, 17, 8), (17, 8, 0.05, 10, 0.1, 14)),
}
_CENTRES = {
    3: ((3689, 1170, 2673), (4699, 4387, 7470), (1091, 8732, 5547), (381, 5743, 8828)),
    6: (
        (1312, 1696, 5569, 124, 8283, 5886),
        (2329, 4135, 8307, 3736, 1004, 9991),
        (2348, 1451, 3522, 2883, 3047, 6650),
        (4047, 8828, 8732, 5743, 1091, 381),
    ),
}
_BEST = {3: -3.86278, 6: -3.32237}


def tasks() -> list[Task]:
    return [
        *(_hartmann(size, kind, bias) for size in (3, 6) for kind, bias in (("good", 0.1), ("bad", 0.5))),
        _curves("plain", late=0.0),
        _curves("late-bloomers", late=0.35),
        _curves("noisy", late=0.0, spread=0.05),
    ]


def _hartmann(size: int, kind: str, bias: float) -> Task:
    def value(point: Point, share: float) -> float:
        total = 0.0
        for weight, scales, centres in zip(_WEIGHTS, _SCALES[size], _CENTRES[size], strict=True):
            distance = sum(
                scale * (point[f"x{at}"] - centre / 10_000) ** 2
                for at, (scale, centre) in enumerate(zip(scales, centres, strict=True))
            )
            total -= (weight - bias * (1.0 - share)) * math.exp(-distance)
        return total

    def loss(point: Point, epoch: int, repeat: int) -> float:
        share = epoch / MAX_EPOCHS
        spread = 0.1 if kind == "bad" else 0.02
        wobble = noise(repeat, epoch, sorted(point.items()))
        return value(point, share) + 2.0 * math.exp(-6 * share) + spread * (1.0 - share) * wobble

    dimensions = tuple(Dimension(f"x{at}", "float") for at in range(size))
    return _task(
        "mf-hartmann", f"hartmann{size}-{kind}", dimensions, loss, lambda point: value(point, 1.0), _BEST[size]
    )


def _curves(name: str, *, late: float, spread: float = 0.01) -> Task:
    """A bowl in learning rate, width and decay with a speed of its own: good points may start slowly."""
    dimensions = (
        Dimension("rate", "float", -5, 0),
        Dimension("decay", "float", -6, -1),
        Dimension("width", "int", 16, 512),
        Dimension("depth", "int", 1, 8),
        Dimension("optimizer", "choice", choices=("sgd", "adam", "rmsprop")),
    )

    def limit(point: Point) -> float:
        best_rate = {"sgd": -1.5, "adam": -3.0, "rmsprop": -3.3}[point["optimizer"]]
        offset = {"sgd": 0.0, "adam": 0.02, "rmsprop": 0.05}[point["optimizer"]]
        bowl = 0.12 * (point["rate"] - best_rate) ** 2 + 0.02 * (point["decay"] + 3.5) ** 2
        size = 0.15 * (math.log2(point["width"]) - 8) ** 2 / 9 + 0.02 * abs(point["depth"] - 5)
        return 0.05 + offset + min(bowl + size, 2.0)

    def at(point: Point, epoch: int) -> float:
        end = limit(point)
        # Deep, wide nets with small rates learn slowly; with `late`, the best points are among the slowest.
        speed = 0.15 + 0.1 * (point["rate"] + 5) / 5 - 0.01 * point["depth"]
        speed *= 1.0 - late * math.exp(-4 * (end - 0.05))
        return end + (2.3 - min(end, 2.2)) * math.exp(-speed * epoch**0.8)

    def loss(point: Point, epoch: int, repeat: int) -> float:
        return at(point, epoch) + spread * noise(repeat, epoch, sorted(point.items()))

    def final(point: Point) -> float:
        return at(point, MAX_EPOCHS)

    # Where decay and width are best, only three parameters are left.
    best = min(
        final({"rate": -5 + step / 200, "decay": -3.5, "width": 256, "depth": depth, "optimizer": optimizer})
        for step in range(1001)
        for depth in range(1, 9)
        for optimizer in ("sgd", "adam", "rmsprop")
    )
    return _task("curves", name, dimensions, loss, final, best)


def _task(
    suite: str,
    name: str,
    dimensions: tuple[Dimension, ...],
    loss: Callable[[Point, int, int], float],
    final: Callable[[Point], float],
    best: float,
) -> Task:
    dice = random.Random(name)
    losses = sorted(final(random_point(dimensions, dice)) for _ in range(2001))
    return Task(suite, name, dimensions, loss, final, best, losses[1000])


def random_point(dimensions: tuple[Dimension, ...], dice: random.Random) -> Point:
    point: Point = {}
    for dimension in dimensions:
        if dimension.kind == "choice":
            point[dimension.name] = dice.choice(dimension.choices)
        elif dimension.kind == "int":
            point[dimension.name] = dice.randint(int(dimension.low), int(dimension.high))
        else:
            point[dimension.name] = dice.uniform(dimension.low, dimension.high)
    return point
