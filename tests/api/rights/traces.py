"""Whether an answer shows anything of a place: a name that carries its mark, or an id under a key that says whose."""

import json
from typing import Any

from tests.api.rights.world import World

_NUMBERS = {
    "workspaceId": ("workspace_id",),
    "projectId": ("project_id", "other_project_id"),
    "experimentId": ("experiment_id", "ended_id", "unmanaged_id"),
    "experiment_id": ("experiment_id", "ended_id", "unmanaged_id"),
    "forkedFrom": ("experiment_id", "ended_id", "unmanaged_id"),
    "trialId": ("trial_id", "unmanaged_trial_id"),
    "bestTrialId": ("trial_id", "unmanaged_trial_id"),
}
_TEXTS = ("task_id", "job_id", "allocation_id")


def shown_places(world: World, content: bytes) -> list[str]:
    text = content.decode(errors="replace")
    numbers = list(_numbers(content))
    return [name for name in world.places if _shows(world, name, text, numbers)]


def _shows(world: World, name: str, text: str, numbers: list[tuple[str, int]]) -> bool:
    place = world.places[name]
    if place.mark in text.lower() or any(place.ids[key] in text for key in _TEXTS):
        return True
    return any(value in [place.ids[key] for key in _NUMBERS[field]] for field, value in numbers)


def _numbers(content: bytes) -> Any:
    """Every number under one of the keys, at any depth, in JSON or in lines of it."""
    for line in content.splitlines():
        try:
            yield from _walk(json.loads(line))
        except ValueError:
            continue


def _walk(node: Any) -> Any:
    if isinstance(node, list):
        for each in node:
            yield from _walk(each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in _NUMBERS and isinstance(value, int):
                yield key, value
            yield from _walk(value)
