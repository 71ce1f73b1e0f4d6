"""The table of runner types, and how the runners of a configuration become one. A new engine is one module and one row.

Nothing is asked of an engine here: opening must not wait for one that is away.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.engine.ports.runner import Runner
from resolute.runners.composite import CompositeRunner
from resolute.runners.local import LocalRunner, ReadCode
from resolute.runners.polled import PolledRunner
from resolute.spec.runners import RunnerConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the master gives every runner that it opens."""

    home: Path
    url: str = ""
    """Where tasks reach the master."""
    warm: bool = True
    read_code: ReadCode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    open: Callable[[RunnerConfig, Surroundings], Runner]
    options: tuple[str, ...] = ()
    is_slow: bool = True
    """Asking it takes longer than a look at this machine, so a thread of its own does, and answers are from memory."""


def _local(config: RunnerConfig, around: Surroundings) -> Runner:
    slots = config.options.get("slots")
    if slots is not None and (not isinstance(slots, int) or isinstance(slots, bool) or slots < 0):
        raise InvalidInput(f"runners.{config.name}.slots: {slots!r} is not a number of slots. Write 0 or more.")
    return LocalRunner(home=around.home, slots=slots, warm=around.warm, read_code=around.read_code)


ENGINES: dict[str, Engine] = {
    "local": Engine(open=_local, options=("slots",), is_slow=False),
}


def engine_options(engines: Mapping[str, Engine] = ENGINES) -> dict[str, tuple[str, ...]]:
    """For `spec.runners.parse_runners`."""
    return {name: engine.options for name, engine in engines.items()}


def open_runners(
    configs: Sequence[RunnerConfig], around: Surroundings, *, engines: Mapping[str, Engine] = ENGINES
) -> CompositeRunner:
    """All of them as one, the first with the default pool. There is one of this machine at most: two would share its
    slots without knowing of each other."""
    local = [config.name for config in configs if config.type == "local"]
    if len(local) > 1:
        raise InvalidInput(f"runners: {' and '.join(local)} are both of type local; there is one of this machine.")
    return CompositeRunner({config.name: _opened(config, around, engines[config.type]) for config in configs})


def _opened(config: RunnerConfig, around: Surroundings, engine: Engine) -> Any:
    runner = engine.open(config, around)
    return PolledRunner(runner) if engine.is_slow else runner
