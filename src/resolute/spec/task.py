"""Configuration of notebooks, commands, shells and TensorBoards: text in, a checked value out. No I/O."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from resolute.domain.errors import InvalidConfig
from resolute.spec import advice
from resolute.spec.document import Document
from resolute.spec.environment import BindMount, Environment, Pbs, Slurm
from resolute.spec.merge import merge_configs
from resolute.spec.problem import Hints, Problem, dotted, problems_of
from resolute.spec.resources import TaskResources
from resolute.spec.section import AsList, AsPlain, PlainOrList, Section, Text, fault
from resolute.spec.source import Source, read_source

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def duration_s(text: str) -> float:
    """Seconds in `30m`, `1h30m`, `45s` or `500ms`. Raises ValueError for anything else."""
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(text)
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def _is_duration(value: object) -> object:
    try:
        duration_s(value if isinstance(value, str) else "")
    except ValueError:
        raise fault(f"{value!r} is not a duration; write for example 30m, 1h30m or 45s") from None
    return value


class TaskConfig(Section):
    description: str = ""
    entrypoint: Annotated[Annotated[Text, AsPlain] | Annotated[list[str], AsList], PlainOrList] | None = None
    resources: TaskResources = Field(default_factory=TaskResources)
    environment: Environment = Field(default_factory=Environment)
    bind_mounts: list[BindMount] = Field(default_factory=list)
    idle_timeout: Annotated[str, BeforeValidator(_is_duration)] | None = None
    notebook_idle_type: Annotated[str, Field(pattern="^(kernels_or_terminals|kernel_connections|activity)$")] = (
        "kernels_or_terminals"
    )
    tensorboard_args: list[str] = Field(default_factory=list)
    debug: bool = False
    work_dir: Text | None = None
    workspace: str = ""
    slurm: Slurm = Field(default_factory=Slurm)
    pbs: Pbs = Field(default_factory=Pbs)
    ray: dict[str, object] | None = None

    @property
    def idle_timeout_s(self) -> float | None:
        return None if self.idle_timeout is None else duration_s(self.idle_timeout)


@dataclass(frozen=True)
class TaskDefaults:
    """What the cluster fills in where a configuration is silent."""

    description: str = ""
    slots: int = 1
    resource_pool: str = "default"
    runner: str = "local"


@dataclass(frozen=True)
class ParsedTask:
    config: TaskConfig
    resolved: dict[str, object]
    warnings: tuple[str, ...] = ()


def parse_task(
    text: str,
    *,
    filename: str = "config",
    template: dict[str, object] | None = None,
    overrides: Sequence[str] = (),
    defaults: TaskDefaults,
) -> ParsedTask:
    """As `parse_experiment`; an empty text is a task with all defaults."""
    return _parse(read_source(text or "{}", filename=filename, template=template, overrides=overrides), defaults)


def parse_task_values(
    values: dict[str, object], *, template: dict[str, object] | None = None, defaults: TaskDefaults
) -> ParsedTask:
    """As `parse_task`, of a configuration that travelled as JSON: its sentences name keys, but no lines."""
    merged = merge_configs(values, template or {})
    return _parse(
        Source("config", Document(value=values), (), has_template=False, config=merged, problems=()), defaults
    )


def _parse(source: Source, defaults: TaskDefaults) -> ParsedTask:
    below: dict[str, object] = {
        "description": defaults.description,
        "resources": {"slots": defaults.slots, "resource_pool": defaults.resource_pool},
    }
    config, problems = _check(merge_configs(source.config, below))
    if config is None or source.problems:
        raise InvalidConfig(source.sentences([*source.problems, *problems]))
    notes = advice.keys_without_effect(source.config, defaults.runner)
    return ParsedTask(config=config, resolved=config.resolved(), warnings=tuple(source.sentences(notes)))


def reparse_task(resolved: dict[str, object]) -> TaskConfig:
    """A configuration out of stored JSON. Raises InvalidConfig if this version cannot read it."""
    config, problems = _check(resolved)
    if config is None:
        raise InvalidConfig([f"stored configuration: {dotted(each.path)}: {each.message}" for each in problems])
    return config


def _check(raw: dict[str, object]) -> tuple[TaskConfig | None, list[Problem]]:
    models: dict[int, type[BaseModel]] = {}
    try:
        return TaskConfig.model_validate(raw, context=models), []
    except ValidationError as error:
        return None, problems_of(error, raw, models=models, hints=Hints(elsewhere=_HOMES))


_HOMES = {
    **dict.fromkeys(TaskConfig.model_fields, "the top level"),
    **{key: f"resources.{key}" for key in TaskResources.model_fields},
    **{key: f"environment.{key}" for key in Environment.model_fields},
}
