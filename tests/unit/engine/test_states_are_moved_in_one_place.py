"""Nothing but `Flow.move` assigns a state: the source is walked, so that a new line of it cannot forget."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import resolute

SOURCE = Path(resolute.__file__).parent
STATES = {"state", "stage", "is_deleted"}
SAVES = {"save", "save_revision", "save_version"}
THE_TABLE = Path("engine/changes/kinds.py")
MODULES = sorted(
    {p.relative_to(SOURCE) for part in ("engine", "server") for p in (SOURCE / part).rglob("*.py")} - {THE_TABLE}
)


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Every call in it, with the last word of what is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            yield node, function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def faults(source: str) -> list[str]:
    tree = ast.parse(source)
    found = []
    for call, name in calls(tree):
        given = {keyword.arg for keyword in call.keywords}
        if name in SAVES and "expected" in given:
            found.append(f"line {call.lineno}: compares and sets by itself")
        if name == "replace" and given & STATES and not _goes_to_move(call, tree):
            found.append(f"line {call.lineno}: writes a state into a copy")
        if name == "moved_to" and not _goes_to_move(call, tree):
            found.append(f"line {call.lineno}: moves something without Flow.move")
    return found


def _goes_to_move(call: ast.Call, tree: ast.AST) -> bool:
    """Whether it stands inside the arguments of a `move`, or gets a name that is given to one in the same function."""
    for other, name in calls(tree):
        if name == "move" and call in ast.walk(other):
            return True
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.Lambda) and call in ast.walk(function):
            names = _names_of(call, function)
            if any(name == "move" and names & _words(other) for other, name in calls(function)):
                return True
    return _is_returned_to_be_moved(call, tree)


def _names_of(call: ast.Call, function: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and call in ast.walk(node.value):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def _words(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _is_returned_to_be_moved(call: ast.Call, tree: ast.AST) -> bool:
    """A lambda or small function that only makes the goal, for a caller in the same module that moves to it."""
    makers = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and call in ast.walk(f)]
    innermost = makers[-1].name if makers else ""
    inside = (name for other, name in calls(tree) if name == "move" for _, name in calls(other))
    in_lambda = any(isinstance(f, ast.Lambda) and call in ast.walk(f) for f in ast.walk(tree))
    return innermost in set(inside) or (in_lambda and any(name == "change" for name in set(_called_in_moves(tree))))


def _called_in_moves(tree: ast.AST) -> Iterator[str]:
    for other, name in calls(tree):
        if name == "move":
            yield from (inner for _, inner in calls(other))


@pytest.mark.parametrize("module", MODULES, ids=map(str, MODULES))
def test_no_module_assigns_a_state_by_itself(module: Path) -> None:
    assert faults((SOURCE / module).read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "def f(flow, t):\n    flow.tx.trials.save(t.moved_to(X, now=flow.now))",
        "def f(flow, t):\n    t = t.moved_to(X, now=flow.now)\n    flow.tx.trials.save(t)",
        "def f(flow, t):\n    flow.tx.trials.save(replace(t, state=X))",
        "def f(flow, t):\n    flow.tx.trials.save(t, expected=t.state)",
    ],
)
def test_what_goes_past_the_one_place_is_found(source: str) -> None:
    assert faults(source) != []


@pytest.mark.parametrize(
    "source",
    [
        "def f(flow, t):\n    return flow.move(t, t.moved_to(X, now=flow.now))",
        "def f(flow, t):\n    goal = replace(t.moved_to(X, now=flow.now), shares=())\n    flow.move(t, goal)",
    ],
)
def test_what_goes_through_it_is_fine(source: str) -> None:
    assert faults(source) == []
