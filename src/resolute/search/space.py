"""The hyperparameter space: what may vary, how a value is drawn, what a grid walks.

Parameters are kept sorted by dotted name, because a database may reorder the keys of a JSON object and the draws must
stay the same. A parameter with `when` exists only while every parameter it names has one of the given values.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from resolute.domain.errors import InvalidConfig
from resolute.search.parameter import Parameter, is_leaf, parse_parameter
from resolute.search.rng import Rng

Assignment = dict[str, Any]
"""Values by dotted name; parameters whose condition does not hold are absent."""


class Space:
    """Parsed `hyperparameters`. Raises InvalidConfig naming every fault."""

    def __init__(self, hyperparameters: Mapping[str, Any]) -> None:
        problems: list[str] = []
        leaves = {name: parse_parameter(name, leaf, problems) for name, leaf in _leaves(hyperparameters)}
        self._paths = dict(_paths(hyperparameters))
        self.parameters: tuple[Parameter, ...] = tuple(_parents_first(leaves, problems))
        if problems:
            raise InvalidConfig(problems)

    @property
    def free(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if parameter.is_free)

    def sample(self, rng: Rng) -> Assignment:
        drawn: Assignment = {}
        for parameter in self.parameters:
            if parameter.exists_in(drawn):
                drawn[parameter.name] = parameter.sample(rng)
        return drawn

    def complete(self, partial: Mapping[str, Any], rng: Rng) -> Assignment:
        """`partial` with what is missing drawn and what cannot exist beside it left out."""
        chosen: Assignment = {}
        for parameter in self.parameters:
            if not parameter.exists_in(chosen):
                continue
            given = parameter.name in partial
            chosen[parameter.name] = partial[parameter.name] if given else parameter.sample(rng)
        return chosen

    def grid(self) -> list[Assignment]:
        """Every combination; the last name in alphabetical order changes fastest. Conditions remove duplicates."""
        ordered = sorted(self.parameters, key=lambda parameter: parameter.name)
        axes = [parameter.axis() for parameter in ordered]
        names = [parameter.name for parameter in ordered]
        combinations = (dict(zip(names, values, strict=True)) for values in product(*axes))
        if not any(parameter.when for parameter in ordered):
            return list(combinations)
        pruned = (self._without_absent(combination) for combination in combinations)
        return list({repr(sorted(one.items(), key=lambda item: item[0])): one for one in pruned}.values())

    def nested(self, assignment: Mapping[str, Any]) -> dict[str, Any]:
        """The shape the user wrote, as a trial receives it."""
        result: dict[str, Any] = {}
        for name in sorted(assignment):
            *parents, leaf = self._paths[name]
            level = result
            for parent in parents:
                level = level.setdefault(parent, {})
            level[leaf] = assignment[name]
        return result

    def flat(self, hparams: Mapping[str, Any]) -> Assignment:
        """Values of known parameters in a trial's `hparams`; what the space does not know is left out."""
        found: Assignment = {}
        for name, path in self._paths.items():
            level: Any = hparams
            for step in path:
                if not isinstance(level, Mapping) or step not in level:
                    break
                level = level[step]
            else:
                found[name] = level
        return found

    def point_of(self, hparams: Mapping[str, Any]) -> Assignment | None:
        """The free values in a trial's `hparams`; None where they are no point of this space, or there are none."""
        known = self.flat(hparams)
        found = {one.name: known[one.name] for one in self.free if one.name in known}
        is_inside = all(one.allows(found[one.name]) for one in self.free if one.name in found)
        return found if found and is_inside else None

    def strangers(self, hparams: Mapping[str, Any]) -> dict[str, Any]:
        """What of `hparams` this space does not know, in its shape."""
        return _strangers(hparams, set(self._paths.values()), ())

    def _without_absent(self, combination: Assignment) -> Assignment:
        kept: Assignment = {}
        for parameter in self.parameters:
            if parameter.exists_in(kept):
                kept[parameter.name] = combination[parameter.name]
        return kept


def with_constants(hyperparameters: Mapping[str, Any], hparams: Mapping[str, Any]) -> dict[str, Any]:
    """`hparams` with the constants of a space laid over them; what was drawn stays as it is."""
    space = Space(hyperparameters)
    constants = {one.name: one.vals[0] for one in space.parameters if one.kind == "const"}
    known = space.flat(hparams)
    return {**space.strangers(hparams), **space.nested({**known, **constants})}


def _paths(level: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key in sorted(level):
        path = (*prefix, key)
        if is_leaf(level[key]):
            yield ".".join(path), path
        else:
            yield from _paths(level[key], path)


def _leaves(level: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, path in _paths(level):
        value: Any = level
        for step in path:
            value = value[step]
        yield name, value


def _strangers(level: Mapping[str, Any], known: set[tuple[str, ...]], prefix: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in level.items():
        path = (*prefix, key)
        if path in known:
            continue
        is_above_known = any(one[: len(path)] == path for one in known)
        if not is_above_known or not isinstance(value, Mapping):
            found[key] = value
        elif inner := _strangers(value, known, path):
            found[key] = inner
    return found


def _parents_first(leaves: dict[str, Parameter], problems: list[str]) -> Iterator[Parameter]:
    """Alphabetical, but never before the parameters a condition names."""
    done: set[str] = set()
    waiting = [leaves[name] for name in sorted(leaves)]
    for parameter in waiting:
        for parent in parameter.when:
            if parent not in leaves:
                problems.append(
                    f"hyperparameters.{parameter.name}.when names {parent!r}, which is not a hyperparameter; "
                    f"use one of: {', '.join(sorted(leaves))}."
                )
    if problems:
        return
    while waiting:
        ready = [parameter for parameter in waiting if done.issuperset(parameter.when)]
        if not ready:
            names = ", ".join(parameter.name for parameter in waiting)
            problems.append(
                f"hyperparameters: the `when` conditions of {names} depend on each other; break the circle."
            )
            return
        yield from ready
        done.update(parameter.name for parameter in ready)
        waiting = [parameter for parameter in waiting if parameter.name not in done]
