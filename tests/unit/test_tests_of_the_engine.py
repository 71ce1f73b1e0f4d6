"""The engine's own tests stay about as large as the engine."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
FEWEST = 0.9
"""Lines of tests for each line of the engine."""


def lines(folder: Path) -> int:
    return sum(len(path.read_text().splitlines()) for path in folder.rglob("*.py"))


def test_the_engine_has_tests_of_its_own() -> None:
    ratio = lines(ROOT / "tests/unit/engine") / lines(ROOT / "src/resolute/engine")

    assert ratio >= FEWEST, f"{ratio:.2f} lines of tests/unit/engine for each line of the engine; {FEWEST} are wanted."
