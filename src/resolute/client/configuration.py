"""An experiment configuration in whichever form a user has it: YAML text, a file, or a dictionary.

YAML and the configuration's schema are loaded by the functions that need them: most commands never do, and they cost
more than the rest of the client together.
"""

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resolute.domain.errors import InvalidConfig, InvalidInput

Configuration = str | Path | dict[str, Any]


def as_yaml(config: Configuration) -> str:
    """Text as it is written, comments included; a dictionary is written out."""
    if isinstance(config, Path):
        return _text_of(config)
    if isinstance(config, str):
        return config
    from ruamel.yaml import YAML

    out = io.StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.dump(config, out)
    return out.getvalue()


def as_dict(config: Configuration, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The values, with `key=value` texts laid over them. Raises InvalidConfig naming file, line and fault."""
    from resolute.spec.source import read_source

    source = read_source(as_yaml(config), filename=name_of(config), overrides=overrides)
    if source.problems:
        raise InvalidConfig(source.sentences(source.problems))
    return source.config


def with_overrides(config: Configuration, overrides: Sequence[str]) -> Configuration:
    """`config` with `key=value` texts laid over it. Without any it is passed on untouched, comments and all."""
    return as_dict(config, overrides) if overrides else config


def name_of(config: Configuration) -> str:
    """What sentences about it call it."""
    return str(config) if isinstance(config, Path) else "config"


def in_own_words(problem: InvalidInput, config: Configuration) -> InvalidInput:
    """The master's sentences, which say `config:12`, with the name of the user's file instead."""
    if not isinstance(config, Path):
        return problem
    sentences = [re.sub(r"^config(?=:)", lambda _: name_of(config), line) for line in str(problem).splitlines()]
    return InvalidConfig(sentences)


def _text_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as problem:
        raise InvalidInput(f"{path} cannot be read: {problem.strerror}. Check the path.") from problem
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not a text file. Give a YAML configuration.") from None
