"""What is wrong with a configuration, as sentences: file, line, key, value and remedy.

Pydantic finds the faults; here each becomes a `Problem` with the path a user would recognise. Nothing is checked here.
"""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    where: str = ""
    """Set when it is not in the configuration text at all."""


@dataclass(frozen=True, slots=True)
class Hints:
    """What a schema knows beyond its fields, for remedies."""

    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Where a key that is unknown in one section belongs."""
    replaced: Mapping[str, str] = field(default_factory=dict)
    """What to write instead of a name that is no more."""
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The kinds a section can have, by the key that selects one."""


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
    error: ValidationError, raw: Any, *, models: Mapping[int, type[BaseModel]], hints: Hints
) -> list[Problem]:
    """One problem per fault. `models` says which model checked which mapping (by id), for offering its keys."""
    found = []
    for detail in error.errors(include_url=False):
        path, parent = _walk(detail, raw)
        message = _sentence(detail, path, models.get(id(parent)), hints)
        if detail["type"] == "union_tag_invalid":
            path = (*path, _selector(detail))
        found.append(Problem(path, message, points_at_parent=detail["type"] == "missing"))
    return list(dict.fromkeys(found))


_MANY_KEYS = 15
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


def _sentence(detail: ErrorDetails, path: Path, model: type[BaseModel] | None, hints: Hints) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    value = shown(detail["input"], path)
    if kind == "fault":
        return str(context["message"])
    if kind == "missing":
        return "is missing; add it"
    if kind == "extra_forbidden":
        return _unknown_key(str(path[-1]) if path else "", model, hints.elsewhere)
    if kind in _KINDS:
        return f"{value} is not {_KINDS[kind]}"
    if kind in _LIMITS:
        words, key = _LIMITS[kind]
        return f"{value} is out of range; it must be {words} {context[key]}"
    if kind in ("union_tag_invalid", "union_tag_not_found", "literal_error"):
        return _unknown_choice(detail, hints)
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
    return (
        f"unknown key; known here are {', '.join(known)}" if 0 < len(known) < _MANY_KEYS else "unknown key; remove it"
    )


def _selector(detail: ErrorDetails) -> str:
    """The key by which a section says which kind it is."""
    return "name" if "_name" in str(detail.get("ctx", {}).get("discriminator")) else "type"


def _unknown_choice(detail: ErrorDetails, hints: Hints) -> str:
    context = detail.get("ctx", {})
    if detail["type"] == "union_tag_not_found":
        if not isinstance(detail["input"], dict):
            return f"{shown(detail['input'])} is not a map of keys to values"
        selector = _selector(detail)
        return f"has no {selector}; add one of {', '.join(hints.choices.get(selector, ()))}"
    options = str(context.get("expected_tags") or context.get("expected", ""))
    options = options.replace("'", "").replace(", <group>", "").replace(" or ", ", ")
    chosen = str(context["tag"]) if "tag" in context else str(detail["input"])
    if chosen in hints.replaced:
        return f'"{chosen}" is no longer supported; use {hints.replaced[chosen]}'
    close = nearest(chosen, options.split(", "))
    hint = f"did you mean {close}?" if close else f"use one of {options}"
    return f'"{chosen}" is not known; {hint}'
