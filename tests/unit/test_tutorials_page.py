"""The page on the tutorials is made from the table beside their tests, and says nothing else."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tests/e2e/tutorials/steps.py"


def table() -> Any:
    spec = importlib.util.spec_from_file_location("tutorial_steps", TABLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tutorial_steps"] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_is_that_of_the_table() -> None:
    written = (ROOT / "docs/tutorials-conformance.md").read_text()

    assert written == table().page(), f"run: python {TABLE.relative_to(ROOT)} > docs/tutorials-conformance.md"


def test_every_step_stands_once_and_every_test_exists() -> None:
    steps = table().STEPS

    assert [step.number for step in steps] == list(range(1, 124))
    for step in steps:
        assert not step.test or (ROOT / step.test).is_file(), step
