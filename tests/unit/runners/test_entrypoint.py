"""Which entrypoints a warm process may run itself."""

import os
import sys
from pathlib import Path

import pytest

from resolute.runners.shepherd.entrypoint import PythonCommand, can_run_here, command_of, plain_python


@pytest.mark.parametrize(
    ("entrypoint", "target", "is_module", "arguments"),
    [
        ("python3 train.py", "train.py", False, ()),
        ("python train.py --lr 0.1", "train.py", False, ("--lr", "0.1")),
        ("python3.11 -u sub/train.py 'a b'", "sub/train.py", False, ("a b",)),
        ("python3 -m pkg.train --name=x", "pkg.train", True, ("--name=x",)),
        ("  python3   train.py  ", "train.py", False, ()),
        (("python3", "train.py", "$HOME"), "train.py", False, ("$HOME",)),
        (("/usr/bin/python3", "-m", "mod"), "mod", True, ()),
    ],
)
def test_a_plain_python_command_is_recognised(
    entrypoint: str | tuple[str, ...], target: str, is_module: bool, arguments: tuple[str, ...]
) -> None:
    command = plain_python(entrypoint)

    assert command is not None
    assert (command.target, command.is_module, command.arguments) == (target, is_module, arguments)


@pytest.mark.parametrize(
    "entrypoint",
    [
        "",
        "python3",
        "python3 -c 'print(1)'",
        "python3 -m",
        "python3 -O train.py",
        "python3 -u -m",
        "python3 train.py | tee log",
        "python3 train.py && echo done",
        "python3 train.py $ARGS",
        "python3 train.py *.csv",
        "python3 train.py > out",
        "python3 train.py # comment",
        "python3 'unclosed",
        "FOO=1 python3 train.py",
        "torchrun train.py",
        "python3 folder",
        "pythonic train.py",
        "cd x; python3 train.py",
        ("echo", "python3", "train.py"),
    ],
)
def test_everything_else_is_executed(entrypoint: str | tuple[str, ...]) -> None:
    assert plain_python(entrypoint) is None


def test_a_string_goes_through_a_shell_and_a_list_does_not() -> None:
    assert command_of("a | b") == ["sh", "-c", "a | b"]
    assert command_of(("a", "|", "b")) == ["a", "|", "b"]


def test_the_original_arguments_can_be_told_again() -> None:
    assert PythonCommand("python3", "pkg", True, ("x",)).argv == ["python3", "-m", "pkg", "x"]


COMMAND = PythonCommand("python3", "train.py", False, ())
OWN_BIN = os.path.dirname(sys.executable)


@pytest.mark.parametrize(
    ("more", "own", "expected"),
    [
        ({}, {}, True),
        ({"EPOCHS": "3", "PYTHONPATH": "/x", "PYTHONUNBUFFERED": "1"}, {}, True),
        ({"PYTHONHASHSEED": "0"}, {"PYTHONHASHSEED": "0"}, True),
        ({"PYTHONHASHSEED": "0"}, {}, False),
        ({}, {"PYTHONHASHSEED": "0"}, False),
        ({"LD_PRELOAD": "/lib/jemalloc.so"}, {}, False),
        ({"TORCH_LOGS": "dynamo"}, {}, False),
        ({"MKL_NUM_THREADS": "4"}, {}, False),
    ],
)
def test_variables_that_are_read_while_loading_must_be_the_same(
    more: dict[str, str], own: dict[str, str], expected: bool
) -> None:
    env = {"PATH": OWN_BIN, **more}

    assert can_run_here(COMMAND, env, executable=sys.executable, own_env={"PATH": "", **own}) is expected


def test_another_interpreter_on_the_path_is_respected(tmp_path: Path) -> None:
    (tmp_path / "python3").write_text("#!/bin/sh\n")
    (tmp_path / "python3").chmod(0o755)
    env = {"PATH": f"{tmp_path}:{OWN_BIN}"}

    assert not can_run_here(COMMAND, env, executable=sys.executable, own_env={})
    assert not can_run_here(COMMAND, {"PATH": "/nowhere"}, executable=sys.executable, own_env={})
