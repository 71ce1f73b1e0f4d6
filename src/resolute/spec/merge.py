"""How a template and `--config key=value` change a configuration. Plain values in, plain values out; checks nothing.

Maps are merged key by key and the configuration wins. These differ:

- lists in `APPENDED` keep the configuration's items first and add the template's that do not clash with them;
- a hyperparameter with a `type`, or a plain value, replaces the template's wholly: half a range is no range;
- so does a length: two units are no length;
- a `searcher` or `checkpoint_storage` of another kind keeps only the template's keys that every kind has.

An override replaces what is at its key; a map is merged into a map there, by the last of these rules too.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from resolute.spec.document import read_document
from resolute.spec.environment import DEVICES
from resolute.spec.problem import Path, Problem
from resolute.spec.searcher import SearcherBase
from resolute.spec.storage import COMMON

Config = dict[str, object]

_KINDS: dict[Path, tuple[str, frozenset[str]]] = {
    ("searcher",): ("name", frozenset(SearcherBase.model_fields)),
    ("checkpoint_storage",): ("type", COMMON),
}
_LENGTHS = frozenset({"max_length", "length_per_round", "min_checkpoint_period", "min_validation_period"})
_VARIABLES: Path = ("environment", "environment_variables")


def _container_path(item: object) -> str:
    if isinstance(item, str) and ":" in item:
        return repr(item.split(":")[1])  # a device's short form
    return repr(item.get("container_path") if isinstance(item, dict) else item)


def _policy_name(item: object) -> str:
    name = item.get("name") if isinstance(item, dict) else None
    return f"name {name}" if name else repr(item)


def _variable_name(item: object) -> str:
    return str(item).partition("=")[0]


APPENDED: dict[Path, Callable[[Any], str]] = {
    ("bind_mounts",): _container_path,
    ("resources", "devices"): _container_path,
    ("labels",): repr,
    ("log_policies",): _policy_name,
    ("environment", "proxy_ports"): repr,
    ("environment", "add_capabilities"): repr,
    ("environment", "drop_capabilities"): repr,
    ("slurm", "sbatch_args"): repr,
    ("pbs", "pbsbatch_args"): repr,
    **{(*_VARIABLES, device): _variable_name for device in DEVICES},
}
"""Lists that grow by merging, with what makes two items clash."""


@dataclass(frozen=True, slots=True)
class Override:
    """One `--config key=value` as it was typed."""

    path: tuple[str, ...]
    value: object
    text: str


def merge_configs(config: Config, template: Config) -> Config:
    """`config` laid over `template`. Neither is changed."""
    return _merge_maps(copy.deepcopy(config), copy.deepcopy(template), ())


def read_overrides(texts: Sequence[str]) -> tuple[list[Override], list[Problem]]:
    """Split and type `key=value` texts. `a=1,2` is a list, as are all values with commas and no spaces."""
    overrides, problems = [], []
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key or not all(key.split(".")):
            problems.append(
                Problem((), "is not key=value; write for example searcher.max_trials=16", where=f"--config {text}")
            )
            continue
        read, faults = _typed(value)
        problems += [Problem((), fault.message, where=f"--config {text}") for fault in faults]
        path = tuple(key.split("."))
        overrides.append(Override(path, [read] if path == ("bind_mounts",) and isinstance(read, dict) else read, text))
    return overrides, problems


def apply_overrides(config: Config, overrides: Sequence[Override]) -> Config:
    """`config` with each override laid over it, in order. The argument is not changed."""
    changed = copy.deepcopy(config)
    for override in overrides:
        node = changed
        for depth, key in enumerate(override.path[:-1], start=1):
            below = node.get(key)
            if not isinstance(below, dict) or _is_length(override.path[:depth]):
                below = node[key] = {}
            node = below
        last = override.path[-1]
        node[last] = _laid_over(node.get(last), copy.deepcopy(override.value), override.path)
    return changed


def _laid_over(old: object, new: object, path: Path) -> object:
    is_replaced = path not in _KINDS and isinstance(new, dict) and "type" in new
    if not isinstance(old, dict) or not isinstance(new, dict) or is_replaced or _is_length(path):
        return new
    kept = _kept(new, old, path)
    return {**kept, **{key: _laid_over(kept.get(key), value, (*path, key)) for key, value in new.items()}}


def _is_length(path: Path) -> bool:
    return path[-1] in _LENGTHS and path[0] != "hyperparameters"


def _typed(text: str) -> tuple[Any, list[Problem]]:
    if "," in text and not text.startswith(("[", "{", '"', "'")) and " " not in text:
        parts = [_typed(part) for part in text.split(",")]
        return [value for value, _ in parts], [fault for _, faults in parts for fault in faults]
    document = read_document(text)
    return document.value, document.problems


def _merge_maps(config: Config, template: Config, path: Path) -> Config:
    merged = dict(config)
    for key, theirs in _kept(config, template, path).items():
        ours = config.get(key)
        # Null means "not said", so the template's word counts; except for hyperparameters, where it is a value.
        is_unsaid = key not in config or (ours is None and path[:1] != ("hyperparameters",))
        merged[key] = theirs if is_unsaid else _merge(ours, theirs, (*path, key))
    return merged


def _merge(ours: object, theirs: object, path: Path) -> object:
    if path == _VARIABLES:
        ours, theirs = _by_device(ours), _by_device(theirs)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        is_parameter = path[0] == "hyperparameters" and len(path) > 1 and ("type" in ours or "type" in theirs)
        return ours if is_parameter or _is_length(path) else _merge_maps(ours, theirs, path)
    if path in APPENDED and isinstance(ours, list) and isinstance(theirs, list):
        taken = {APPENDED[path](item) for item in ours}
        return ours + [item for item in theirs if APPENDED[path](item) not in taken]
    return ours


def _kept(config: Config, template: Config, path: Path) -> Config:
    """The part of `template` that can still mean something beside `config`."""
    if path not in _KINDS:
        return template
    selector, common = _KINDS[path]
    if config.get(selector) in (None, template.get(selector)):
        return template
    return {key: value for key, value in template.items() if key in common}


def _by_device(variables: object) -> object:
    return dict.fromkeys(DEVICES, variables) if isinstance(variables, list) else variables
