"""What a deployment may set about how its model is run, checked before the model is loaded. Pure."""

import difflib
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.serving.images import MAX_PIXELS
from resolute.serving.model import NUMPY_TYPES, TensorSpec

_log = logging.getLogger("resolute.serving")
_DEVICE = re.compile(r"^(cpu|cuda(:\d+)?|mps)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    device: str = "cpu"
    model: str | None = None
    """Which one, where the source holds several."""
    batch_size: int = 1
    """Told to handlers; batches are made by the server."""
    max_pixels: int = MAX_PIXELS
    score_threshold: float | None = None
    """None: the model's own."""
    slice_size: int | None = None
    """None: that of the tiles which the model learnt from, else 640."""
    overlap: float = 0.2
    slice_limit: int = 2048
    """Pictures with a longer side are predicted in slices; 0: never."""
    datatype: str = "FP32"
    """Of V1 numbers, for models that do not say what they take."""
    inputs: tuple[TensorSpec, ...] = ()
    """For models that do not say what they take."""
    allow_pickle: bool = False
    """Files whose loading runs code that they carry are loaded: whoever wrote them is trusted with this process."""


def read_options(given: Mapping[str, Any]) -> Options:
    """Unknown names are told in the log; bad values are refused."""
    known = {field.name: field for field in fields(Options)}
    for name in given.keys() - known.keys():
        near = difflib.get_close_matches(name, known, n=1)
        _log.warning("The option %s is not known%s.", name, f"; is {near[0]} meant?" if near else "")
    values = {name: value for name, value in given.items() if name in known and value is not None}
    if "inputs" in values:
        values["inputs"] = tuple(_spec(row) for row in values["inputs"])
    options = Options(**values)
    _check(options)
    return options


def _check(options: Options) -> None:
    rules = (
        ("device", bool(_DEVICE.match(str(options.device))), "cpu, cuda, cuda:0, cuda:1 ... or mps"),
        ("batch_size", _is_whole(options.batch_size) and options.batch_size >= 1, "a whole number from 1"),
        ("max_pixels", _is_whole(options.max_pixels) and options.max_pixels >= 1, "a whole number from 1"),
        ("score_threshold", _is_share(options.score_threshold, optional=True), "a number from 0 to 1"),
        (
            "slice_size",
            options.slice_size is None or (_is_whole(options.slice_size) and options.slice_size >= 16),
            "pixels, from 16",
        ),
        ("overlap", _is_share(options.overlap) and options.overlap < 1, "a number from 0 to below 1"),
        ("slice_limit", _is_whole(options.slice_limit) and options.slice_limit >= 0, "pixels, or 0 for never"),
        ("allow_pickle", isinstance(options.allow_pickle, bool), "true or false"),
        ("datatype", options.datatype in NUMPY_TYPES, f"one of {', '.join(NUMPY_TYPES)}"),
    )
    for name, is_good, wanted in rules:
        if not is_good:
            raise InvalidInput(f"The option {name} is {getattr(options, name)!r}; wanted: {wanted}.")


def _spec(row: Any) -> TensorSpec:
    try:
        return TensorSpec(name=row["name"], datatype=row["datatype"], shape=tuple(map(int, row["shape"])))
    except (KeyError, TypeError, ValueError):
        raise InvalidInput(
            f'The option inputs holds {row!r}; wanted: {{"name": "x", "datatype": "FP32", "shape": [-1, 3]}}.'
        ) from None


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_side(value: Any) -> bool:
    return _is_whole(value) and bool(value >= 16)


def _is_share(value: Any, *, optional: bool = False) -> bool:
    if value is None:
        return optional
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
