"""Notebooks, commands and TensorBoards."""

from collections.abc import Callable
from typing import Any

import pytest

from resolute.domain.errors import InvalidConfig
from resolute.spec.task import ParsedTask, TaskDefaults, duration_s, parse_task, reparse_task

CLUSTER = TaskDefaults(description="JupyterLab (calm-fox)", slots=1)


def parse(text: str, **more: Any) -> ParsedTask:
    return parse_task(text, filename="nb.yaml", defaults=CLUSTER, **more)


def refusals(text: str) -> list[str]:
    with pytest.raises(InvalidConfig) as refusal:
        parse(text)
    return refusal.value.problems


def test_a_notebook_config_that_people_published_parses(config_text: Callable[[str], str]) -> None:
    parsed = parse(config_text("notebook.yaml"))

    assert parsed.config.description == "My-notebook"
    assert parsed.config.resources.slots == 0
    assert parsed.config.idle_timeout_s == 1800
    assert parsed.config.bind_mounts[0].container_path == "/determined_shared_fs"
    assert parsed.warnings == ()


@pytest.mark.parametrize("text", ["", "{}", "resources: null\n"])
def test_a_task_without_a_word_has_the_clusters_defaults(text: str) -> None:
    parsed = parse(text)

    assert parsed.resolved["description"] == "JupyterLab (calm-fox)"
    assert parsed.resolved["resources"]["slots"] == 1
    assert parsed.resolved["resources"]["resource_pool"] == "default"
    assert parsed.config.idle_timeout_s is None


def test_a_resolved_task_resolves_to_itself() -> None:
    resolved = parse("idle_timeout: 1h\nentrypoint: [bash, -c, ls]\n").resolved

    assert reparse_task(resolved).resolved() == resolved


def test_overrides_and_templates_work_as_for_experiments() -> None:
    parsed = parse("description: a\n", template={"idle_timeout": "10s"}, overrides=["resources.slots=3"])

    assert parsed.config.resources.slots == 3
    assert parsed.config.idle_timeout_s == 10


@pytest.mark.parametrize(
    ("text", "seconds"), [("30m", 1800), ("1h30m", 5400), ("45s", 45), ("500ms", 0.5), ("1.5h", 5400), ("0s", 0)]
)
def test_durations_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "m", "30 m", "half an hour", "-3m", "3d"])
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text}$"):
        duration_s(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("idle_timeout: soon", "idle_timeout: 'soon' is not a duration; write for example 30m, 1h30m or 45s"),
        ("idle_timeout: 30", "idle_timeout: 30 is not a duration; write for example 30m, 1h30m or 45s"),
        ("slots: 2", "slots: unknown key here; it belongs at resources.slots"),
        ("image: x", "image: unknown key here; it belongs at environment.image"),
        ("idel_timeout: 3m", "idel_timeout: unknown key; did you mean idle_timeout?"),
        ("resources: {slots: -1}", "resources.slots: -1 is out of range; it must be at least 0"),
        ("- a", "is a list, not a map; write keys such as `name: my-experiment`, one per line"),
        ("a: [", "is not YAML: expected the node content, but found '<stream end>' at 'a: ['"),
    ],
)
def test_a_refusal_names_line_key_value_and_remedy(text: str, problem: str) -> None:
    assert refusals(text) == [f"nb.yaml:1: {problem}"]


def test_a_key_without_effect_here_is_warned_about() -> None:
    parsed = parse("environment: {image: x}\nresources: {shm_size: 1g}\n")

    assert [warning.split(": ")[1] for warning in parsed.warnings] == ["environment.image", "resources.shm_size"]


def test_stored_json_that_cannot_be_read_says_which_key() -> None:
    with pytest.raises(InvalidConfig, match="stored configuration: debug"):
        reparse_task({"debug": 3})
