"""Which command a trial class becomes, in its three spellings."""

import pytest

REST = "\nsearcher: {name: single, metric: loss}\n"
HARNESS = "python3 -m determined.launch.torch_distributed"


@pytest.mark.parametrize(
    ("given", "started"),
    [
        ("model_def:Digits", "python3 -m resolute.launch.trial model_def:Digits"),
        (f"{HARNESS} --trial model_def:Digits", "python3 -m resolute.launch.trial model_def:Digits"),
        (f"{HARNESS} python3 train.py", f"{HARNESS} python3 train.py"),
        ("python3 train.py", "python3 train.py"),
    ],
)
def test_a_class_is_trained_by_our_launcher_and_a_script_is_run_as_it_stands(world, given: str, started: str) -> None:
    world.create(f"name: x\nentrypoint: {given}{REST}")

    world.tick()

    assert world.runner.started[0].entrypoint == started


@pytest.mark.parametrize("given", ["model_def:Digits", f"{HARNESS} --trial model_def:Digits"])
def test_another_python_has_the_harness_and_not_our_launcher(world, given: str) -> None:
    world.create(f"name: x\nenvironment: {{python: /usr/bin/python3}}\nentrypoint: {given}{REST}")

    world.tick()

    assert world.runner.started[0].entrypoint == f"{HARNESS} --trial model_def:Digits"
