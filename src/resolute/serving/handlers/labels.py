"""index_to_name.json: class ids to names. Answers with an id that has no name are refused in words. No torch."""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from resolute.domain.errors import InvalidInput

_log = logging.getLogger("resolute.serving")
_OBJECT_TYPES = "object_type_names"


def load_label_mapping(mapping_file_path: str | Path) -> dict[str, str] | None:
    """{"0": "cat"}, {"0": ["n0123", "cat"]} (the last counts) or {"object_type_names": ["cat", ...]}.

    None when there is no such file: classes are then answered by number.
    """
    path = Path(mapping_file_path)
    if not path.is_file():
        _log.warning("%s is missing: answers name classes by their number.", path.name)
        return None
    try:
        document = json.loads(path.read_bytes())
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidInput(f"{path.name} is not JSON: {error}.") from None
    if not isinstance(document, dict):
        raise InvalidInput(
            f'{path.name} must be a JSON object such as {{"0": "cat"}}, not a {type(document).__name__}.'
        )
    if isinstance(document.get(_OBJECT_TYPES), list):
        return {str(index): str(name) for index, name in enumerate(document[_OBJECT_TYPES])}
    return {str(key): _label(path, key, value) for key, value in document.items()}


def map_class_to_label(
    probs: Sequence[Sequence[Any]],
    mapping: Mapping[str, str] | None = None,
    lbl_classes: Sequence[Sequence[int]] | None = None,
) -> list[dict[str, Any]]:
    """Each row of values as {name: value}. Without classes, values are of classes 0, 1, 2 ..."""
    if not isinstance(probs, list):
        raise InvalidInput(f"map_class_to_label wants lists, not a {type(probs).__name__}: call .tolist() first.")
    classes = lbl_classes if lbl_classes is not None else [range(len(row)) for row in probs]
    return [
        {label_of(each, mapping): value for each, value in zip(row, values, strict=False)}
        for row, values in zip(classes, probs, strict=False)
    ]


def label_of(number: int, mapping: Mapping[str, str] | None) -> str:
    if mapping is None:
        return str(number)
    name = mapping.get(str(number))
    if name is None:
        raise InvalidInput(
            f"The model answered with class {number}, which index_to_name.json does not name: it has "
            f"{len(mapping)} classes, {_ends(mapping)}. Add it, or serve the table of the training."
        )
    return name


def _label(path: Path, key: str, value: Any) -> str:
    name = value[-1] if isinstance(value, list) and value else value
    if not isinstance(name, str):
        raise InvalidInput(
            f"{path.name}: the name of class {key} is {value!r}; wanted: text, or a list that ends in text."
        )
    return name


def _ends(mapping: Mapping[str, str]) -> str:
    keys = list(mapping)
    return f"from {keys[0]} to {keys[-1]}" if keys else "none"
