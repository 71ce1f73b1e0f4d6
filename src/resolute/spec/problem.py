"""What is wrong with a configuration, as sentences: file, line, key, value and remedy.

Pydantic finds the faults; here each becomes a `Problem` with the path a user would recognise. Nothing is checked here.
"""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

Path = tuple[str | int, ...]
_SECRET = ("secret", "password", "token", "credential", "connection_string", "access_key", "auth")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """`message` follows the key; `points_at_parent` when the key it speaks of is not there."""

    path: Path
    message: str
    points_at_parent: bool = False


def dotted(path: Sequence[str | int]) -> str:
    """`log_policies[0].pattern`, as users write keys."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def shown(value: Any, path: Sequence[str | int] = ()) -> str:
    """A value for a message: JSON, shortened; never a secret."""
    if any(word in str(part).lower() for part in path[-1:] for word in _SECRET):
        return "the value (hidden)"
    text = json.dumps(value, default=str)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def nearest(word: str, options: Sequence[str]) -> str | None:
    """The option that `word` was probably meant to be."""
    close = difflib.get_close_matches(word.lower(), [option.lower() for option in options], n=1, cutoff=0.6)
    return next((option for option in options if option.lower() in close), None)


def problems_of(
    error: ValidationError,
    raw: Any,
    *,
    models: Mapping[int, type[BaseModel]],
    prefix: Path = (),
    elsewhere: Mapping[str, str] | None = None,
    replaced: Mapping[str, str] | None = None,
) -> list[Problem]:
    """One problem per fault. `models` says which model checked which mapping (by id), for offering its keys;
    `elsewhere` where a key that is unknown here belongs; `replaced` what to write for a name that is no more."""
    found = []
    for detail in error.errors(include_url=False):
        path, parent = _walk(detail, raw)
        message = _sentence(detail, path, parent, models, elsewhere or {}, replaced or {})
        found.append(Problem(prefix + path, message, points_at_parent=detail["type"] in _ABSENT))
    return list(dict.fromkeys(found))


_ABSENT = ("missing", "union_tag_not_found")
_KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "text; put it in quotes if it is meant as text",
    "list_type": "a list; start each item with a dash",
    "dict_type": "a map of keys to values",
    "model_type": "a map of keys to values",
    "model_attributes_type": "a map of keys to values",
}
_LIMITS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("greater than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


def _walk(detail: ErrorDetails, raw: Any) -> tuple[Path, Any]:
    """The path as written, without the steps pydantic adds for unions, and the node that holds its last key."""
    steps: list[str | int] = [*detail["loc"], *detail.get("ctx", {}).get("key", ())]
    path: list[str | int] = []
    node, parent = raw, None
    for index, step in enumerate(steps):
        inside = step in node if isinstance(node, dict) else _indexes(node, step)
        if inside:
            parent, node = node, node[step]
            path.append(step)
        elif index == len(steps) - 1 and (detail["type"] == "missing" or detail.get("ctx", {}).get("key")):
            parent = node
            path.append(step)
    return tuple(path), parent


def _indexes(node: Any, step: str | int) -> bool:
    return isinstance(node, list) and isinstance(step, int) and step < len(node)


def _sentence(
    detail: ErrorDetails,
    path: Path,
    parent: Any,
    models: Mapping[int, type[BaseModel]],
    elsewhere: Mapping[str, str],
    replaced: Mapping[str, str],
) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    value = shown(detail["input"], path)
    if kind == "fault":
        return str(context["message"])
    if kind == "missing":
        return "is missing; add it"
    if kind == "extra_forbidden":
        return _unknown_key(str(path[-1]) if path else "", models.get(id(parent)), elsewhere)
    if kind in _KINDS:
        return f"{value} is not {_KINDS[kind]}"
    if kind in _LIMITS:
        words, key = _LIMITS[kind]
        return f"{value} is out of range; it must be {words} {context[key]}"
    if kind in ("union_tag_invalid", "union_tag_not_found", "literal_error"):
        return _unknown_choice(detail, replaced)
    if kind == "string_too_short":
        return "is empty; give it a value"
    if kind == "string_pattern_mismatch":
        return f"{value} does not have the form {context['pattern']}"
    return f"{value}: {detail['msg']}"


def _unknown_key(key: str, model: type[BaseModel] | None, elsewhere: Mapping[str, str]) -> str:
    known = list(model.model_fields) if model else []
    if close := nearest(key, known):
        return f"unknown key; did you mean {close}?"
    if key in elsewhere:
        return f"unknown key here; it belongs at {elsewhere[key]}"
    return f"unknown key; known here are {', '.join(known)}" if known else "unknown key; remove it"


def _unknown_choice(detail: ErrorDetails, replaced: Mapping[str, str]) -> str:
    context = detail.get("ctx", {})
    options = str(context.get("expected_tags") or context.get("expected", ""))
    options = options.replace("'", "").replace(", <group>", "").replace(" or ", ", ")
    selector = "name" if "_name" in str(context.get("discriminator")) else "type"
    if detail["type"] == "union_tag_not_found":
        return f"needs a {selector}; one of {options}"
    chosen = str(context["tag"]) if "tag" in context else str(detail["input"])
    label = f"{selector} " if "tag" in context else ""
    if chosen in replaced:
        return f'{label}"{chosen}" is no longer supported; use {replaced[chosen]}'
    close = nearest(chosen, options.split(", "))
    hint = f"did you mean {close}?" if close else f"use one of {options}"
    return f'{label}"{chosen}" is not known; {hint}'
