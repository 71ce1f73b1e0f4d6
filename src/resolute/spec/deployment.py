"""What users write about a deployment: YAML, JSON or a message; a checked value comes out. No I/O.

Keys may be spelled `min_replicas` or `minReplicas`: files use the first, messages the second.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from resolute.domain import deployment as domain
from resolute.domain.errors import InvalidConfig, InvalidInput
from resolute.domain.job import DEFAULT_POOL, DEFAULT_PRIORITY, DEFAULT_WEIGHT
from resolute.domain.queue import HIGHEST_PRIORITY, LOWEST_PRIORITY
from resolute.spec.problem import Hints, Problem, dotted, problems_of
from resolute.spec.section import Count, Fraction, Number, Positive, Section, Text, fault
from resolute.spec.source import read_source

_DNS_LABEL = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")
_STICKY = re.compile(r"(header|cookie):[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_LONGEST_S = 86_400.0
_HEALTH_PATH = re.compile(r"(/[!-~]{0,500})?")
S = TypeVar("S", domain.Scaling, domain.Guard, domain.Serving)


class _Section(Section):
    @classmethod
    def prepared(cls, data: dict[str, object]) -> dict[str, object]:
        return {snake(key): value for key, value in super().prepared(data).items()}


class ScalingConfig(_Section):
    min_replicas: Annotated[Count, Field(le=1000)] = 1
    max_replicas: Annotated[Positive, Field(le=1000)] = 1
    metric: Literal["concurrency", "rate"] = "concurrency"
    target: Annotated[Number, Field(gt=0)] = 4.0
    window_s: Annotated[Number, Field(ge=1, le=3600)] = 60.0
    idle_s: Annotated[Number, Field(ge=1, le=_LONGEST_S)] = 300.0

    @model_validator(mode="after")
    def _least_is_not_more_than_most(self) -> "ScalingConfig":
        if self.max_replicas < self.min_replicas:
            raise fault(
                f"{self.max_replicas} is less than min_replicas ({self.min_replicas}); raise it or lower min_replicas",
                "max_replicas",
            )
        return self


class GuardConfig(_Section):
    enabled: bool = True
    min_requests: Positive = 50
    error_rate_margin: Fraction = 0.05
    latency_factor: Annotated[Number, Field(ge=0)] = 2.0


class ServingConfig(_Section):
    slots: Annotated[Count, Field(le=1024)] = 0
    resource_pool: Text = DEFAULT_POOL
    priority: Annotated[Count, Field(ge=HIGHEST_PRIORITY, le=LOWEST_PRIORITY)] = DEFAULT_PRIORITY
    weight: Annotated[Number, Field(gt=0)] = DEFAULT_WEIGHT
    max_batch_size: Annotated[Positive, Field(le=4096)] = 8
    max_batch_delay_ms: Annotated[Number, Field(ge=0, le=10_000)] = 5.0
    max_queue: Annotated[Positive, Field(le=100_000)] = 100
    timeout_s: Annotated[Number, Field(gt=0, le=3600)] = 60.0
    max_body_bytes: Annotated[Positive, Field(le=4 << 30)] = 64 << 20
    startup_timeout_s: Annotated[Number, Field(ge=1, le=_LONGEST_S)] = 120.0
    health_path: str = "/v2/health/ready"
    hung_after_s: Annotated[Number, Field(ge=0, le=_LONGEST_S)] = 0.0
    idempotent: bool = False
    environment: dict[str, str] = Field(default_factory=dict)
    options: dict[str, object] = Field(default_factory=dict)
    trusted: bool = False
    allow_pickle: bool = False
    memory_bytes: Annotated[Count, Field(le=1 << 50)] = 0
    command: list[Text] = Field(default_factory=list)

    @field_validator("health_path")
    @classmethod
    def _can_be_asked_for(cls, path: str) -> str:
        if not _HEALTH_PATH.fullmatch(path):
            raise fault(
                f'{path!r} cannot be asked for; it must begin with / and have no spaces, or be "" for no probes'
            )
        return path


class DeploymentConfig(_Section):
    """A deployment as a file."""

    name: Text
    namespace: Text = "default"
    model: Text | None = None
    checkpoint_uuid: Text | None = None
    model_uri: Text | None = None
    serving: ServingConfig = Field(default_factory=ServingConfig)
    scaling: ScalingConfig = Field(default_factory=ScalingConfig)
    guard: GuardConfig = Field(default_factory=GuardConfig)
    sticky: str = ""
    public: bool = False

    @model_validator(mode="after")
    def _names_can_be_hosts(self) -> "DeploymentConfig":
        for key, check in (("name", check_label), ("namespace", check_label), ("sticky", check_sticky)):
            try:
                check(getattr(self, key), key)
            except InvalidInput as problem:
                raise fault(str(problem).removeprefix(f"{key}: ").rstrip("."), key) from None
        return self


_HINTS = Hints(
    elsewhere={
        **dict.fromkeys(DeploymentConfig.model_fields, "the top level"),
        **{key: f"scaling.{key}" for key in ScalingConfig.model_fields},
        **{key: f"guard.{key}" for key in GuardConfig.model_fields},
        **{key: f"serving.{key}" for key in ServingConfig.model_fields},
    }
)


def read_deployment(text: str, *, filename: str = "deployment") -> DeploymentConfig:
    """A file's text. Raises InvalidConfig with file, line, key and remedy of everything that is wrong."""
    source = read_source(text, filename=filename)
    models: dict[int, type[BaseModel]] = {}
    problems = list(source.problems)
    try:
        config = DeploymentConfig.model_validate(source.config, context=models)
    except ValidationError as error:
        problems += problems_of(error, source.config, models=models, hints=_HINTS)
    if problems:
        raise InvalidConfig(source.sentences(problems))
    return config


def scaling_of(given: Mapping[str, object], base: domain.Scaling = domain.Scaling()) -> domain.Scaling:
    """`given` over `base`. Raises InvalidConfig."""
    return _merged(ScalingConfig, "scaling", given, base)


def guard_of(given: Mapping[str, object], base: domain.Guard = domain.Guard()) -> domain.Guard:
    return _merged(GuardConfig, "guard", given, base)


def serving_of(given: Mapping[str, object], base: domain.Serving = domain.Serving()) -> domain.Serving:
    return _merged(ServingConfig, "serving", given, base)


def _merged(kind: type[Section], name: str, given: Mapping[str, object], base: S) -> S:
    written = {**asdict(base), **{snake(key): value for key, value in given.items() if value is not None}}
    models: dict[int, type[BaseModel]] = {}
    try:
        checked = kind.model_validate(written, context=models)
    except ValidationError as error:
        raise InvalidConfig(_sentences(name, problems_of(error, written, models=models, hints=_HINTS))) from None
    return type(base)(**checked.model_dump())


def _sentences(section: str, problems: list[Problem]) -> list[str]:
    return [f"{dotted((section, *problem.path))}: {problem.message}." for problem in problems]


def check_label(text: str, key: str = "name") -> str:
    """A DNS label: it becomes part of a host name."""
    if _DNS_LABEL.fullmatch(text):
        return text
    raise InvalidInput(
        f"{key}: {text!r} cannot be part of a host name. Use lower-case letters, digits and dashes, at most 63, "
        "beginning with a letter."
    )


def check_sticky(text: str, key: str = "sticky") -> str:
    if not text or _STICKY.fullmatch(text):
        return text
    raise InvalidInput(f"{key}: {text!r} is not understood. Write header:<name> or cookie:<name>, or leave it out.")


def check_percent(percent: int, key: str = "percent", *, least: int = 0) -> int:
    if least <= percent <= 100:
        return percent
    raise InvalidInput(f"{key}: {percent} is out of range. Give a whole number from {least} to 100.")


def snake(key: str) -> str:
    return _HUMP.sub(lambda hump: f"_{hump[1].lower()}", key)
