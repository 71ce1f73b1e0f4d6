"""The `runners:` section: machines and engines by name, and a sentence for every fault."""

from typing import Any

import pytest

from resolute.spec.problem import dotted
from resolute.spec.runners import RunnerConfig, parse_runners

OPTIONS = {"local": ("slots",), "slurm": ("partition", "account")}


def told(section: Any) -> list[str]:
    _, problems = parse_runners(section, options=OPTIONS)
    return [f"{dotted(each.path)}: {each.message}" for each in problems]


def test_runners_stand_in_the_order_in_which_they_are_written() -> None:
    section = {"here": {"type": "local", "slots": 2}, "a100": {"type": "slurm", "partition": "gpu"}}

    assert parse_runners(section, options=OPTIONS) == (
        (RunnerConfig("here", "local", {"slots": 2}), RunnerConfig("a100", "slurm", {"partition": "gpu"})),
        [],
    )


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        ([], "runners: [] is no map of runners by name"),
        ({}, "runners: {} is no map of runners by name"),
        ({"A B": {"type": "local"}}, "runners.A B: is no name of a runner"),
        ({"a:b": {"type": "local"}}, "runners.a:b: is no name of a runner"),
        ({1: {"type": "local"}}, "runners.1: is no name of a runner"),
        ({"here": "local"}, 'runners.here: "local" is no map of options, such as `type: local`'),
        ({"here": {}}, "runners.here.type: is missing; use one of local, slurm"),
        ({"here": {"type": "slrum"}}, 'runners.here.type: "slrum" is no type of runner; did you mean slurm?'),
        ({"here": {"type": 3}}, "runners.here.type: 3 is no type of runner; use one of local, slurm"),
        ({"a": {"type": "slurm", "partitoin": "x"}}, "runners.a.partitoin: unknown option; did you mean partition?"),
        ({"a": {"type": "local", "zone": 1}}, "runners.a.zone: unknown option; a local runner has slots"),
    ],
)
def test_a_fault_is_told_with_its_place_and_remedy(section: Any, sentence: str) -> None:
    (problem,) = told(section)

    assert problem.startswith(sentence)


def test_every_fault_is_told_at_once_and_what_is_sound_is_kept() -> None:
    section = {"here": {"type": "local"}, "x": {"type": "y"}, "z": 3}

    runners, problems = parse_runners(section, options=OPTIONS)

    assert [runner.name for runner in runners] == ["here"]
    assert len(problems) == 2
