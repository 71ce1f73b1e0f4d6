"""The configuration file of `resolute up`: each of its options may stand there, under its own name.

What is typed wins over the environment, which wins over the file. Nothing is started here.
"""

import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from resolute.domain.errors import InvalidConfig, InvalidInput
from resolute.spec.document import read_document
from resolute.spec.problem import Problem, nearest, shown
from resolute.spec.source import Source

_SECRET = ("admin_password", "initial_password")
_PATHS = ("home", "tls_cert", "tls_key")


def use_master_file(ctx: typer.Context, path: Path | None) -> Path | None:
    """The callback of `--config`: what the file says is what options that nobody gave are set to."""
    if path is not None:
        options = {each.name: each for each in ctx.command.params if each.name not in ("config", "help")}
        ctx.default_map = read_master_file(ctx, path, options)
    return path


def read_master_file(ctx: typer.Context, path: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Raises InvalidConfig with a sentence for every fault: its line, its key and what to do."""
    document = read_document(_text_of(path))
    given = document.value if isinstance(document.value, dict) else {}
    problems = [*document.problems, *_shape_problems(document.value)]
    for key, value in given.items():
        problems += _problems_of(ctx, key, value, options)
    if problems:
        raise InvalidConfig(Source(str(path), document, (), False, given, ()).sentences(problems))
    if any(given.get(key) for key in _SECRET):
        _warn_of_readers(path)
    return {key: _as_typed(key, value, path) for key, value in given.items() if value is not None}


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"The configuration {path} cannot be read: {error.strerror}. Check --config.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"The configuration {path} is not UTF-8 text. Check --config.") from error


def _shape_problems(value: Any) -> list[Problem]:
    if isinstance(value, dict | None):
        return []
    return [Problem((), "is not a map of options; write keys such as `port: 8080`, one per line")]


def _problems_of(ctx: typer.Context, key: str, value: Any, options: Mapping[str, Any]) -> Iterator[Problem]:
    option = options.get(key)
    if option is None:
        close = nearest(key.replace("-", "_"), list(options))
        hint = f"did you mean {close}?" if close else f"known are {', '.join(options)}"
        yield Problem((key,), f"unknown key; {hint}")
    elif value is not None and (reason := _refusal(ctx, option, value)):
        yield Problem((key,), f"{shown(value, (key,))} {reason}")


def _refusal(ctx: typer.Context, option: Any, value: Any) -> str:
    """Why the option cannot have this value; empty: it can."""
    if option.is_flag:
        return "" if isinstance(value, bool) else "is neither true nor false"
    many = option.multiple and isinstance(value, list)
    for each in value if many else [value]:
        if isinstance(each, dict | list | bool):
            return "is not a plain value, or a list of such values" if option.multiple else "is not a plain value"
        try:
            read = option.process_value(ctx, [str(each)] if option.multiple else str(each))
        except typer.BadParameter as error:
            return f"cannot be used: {error.message.rstrip('.')}"
        if not isinstance(each, str) and not isinstance(read, int):
            return "is read as a number; put it in quotes"
    return ""


def _as_typed(key: str, value: Any, path: Path) -> Any:
    """As it would stand on a command line, in the folder of the file."""
    if key in _PATHS:
        return str(path.resolve().parent / Path(value).expanduser())
    return value


def _warn_of_readers(path: Path) -> None:
    if path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        print(f"Warning: {path} holds a password, and others may read it. Run: chmod 600 {path}", file=sys.stderr)
