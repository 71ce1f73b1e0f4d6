"""An experiment's configuration: text in, a checked and fully defaulted value out. No I/O.

Both dialects of upstream's YAML are read; our own keys are marked in `docs/experiment-config.md`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from resolute.domain.errors import InvalidConfig
from resolute.domain.job import DEFAULT_POOL
from resolute.domain.pool import unknown_pool
from resolute.spec import advice, searcher, storage
from resolute.spec.environment import BindMount, Environment, Pbs, Slurm
from resolute.spec.hyperparameters import Categorical, Const, Hyperparameters
from resolute.spec.length import Length, is_length
from resolute.spec.limits import MAX_LABELS, MAX_TRIALS
from resolute.spec.merge import merge_configs
from resolute.spec.policy import (
    DEFAULT_LOG_POLICIES,
    Integrations,
    LogPolicy,
    Optimizations,
    Profiling,
    Reproducibility,
    RetentionPolicy,
    Security,
)
from resolute.spec.problem import Hints, Problem, dotted, problems_of
from resolute.spec.resources import Resources
from resolute.spec.searcher import Grid, Searcher, SearcherBase
from resolute.spec.section import AsList, AsPlain, Count, PlainOrList, Positive, Section, Text, fault
from resolute.spec.source import Source, read_source
from resolute.spec.storage import CheckpointStorage

Period = Annotated[Length, BeforeValidator(is_length)]


@dataclass(frozen=True)
class ClusterDefaults:
    """What the cluster fills in where a configuration is silent."""

    checkpoint_storage: dict[str, object]
    resource_pool: str = DEFAULT_POOL
    aux_pool: str | None = None
    """For work without slots; None: the same."""
    pools: Mapping[str, int | None] = field(default_factory=dict)
    """Pools that may be named, with the most slots each can ever have (None: not known). Empty: any may be."""
    runner: str = "local"


class ExperimentConfig(Section):
    name: Text
    description: str | None = None
    labels: Annotated[list[str], Field(max_length=MAX_LABELS)] = Field(default_factory=list)
    workspace: str = ""
    project: str = ""
    entrypoint: Annotated[Annotated[Text, AsPlain] | Annotated[list[str], AsList], PlainOrList] | None = None
    searcher: Searcher
    hyperparameters: Hyperparameters = Field(default_factory=Hyperparameters)
    checkpoint_storage: CheckpointStorage
    checkpoint_policy: Literal["best", "all", "none"] = "best"
    reproducibility: Reproducibility
    resources: Resources = Field(default_factory=Resources)
    environment: Environment = Field(default_factory=Environment)
    bind_mounts: list[BindMount] = Field(default_factory=list)
    max_restarts: Count = 5
    min_checkpoint_period: Period = Length(batches=0)
    min_validation_period: Period = Length(batches=0)
    perform_initial_validation: bool = False
    records_per_epoch: Count = 0
    scheduling_unit: Positive = 100
    optimizations: Optimizations = Field(default_factory=Optimizations)
    profiling: Profiling = Field(default_factory=Profiling)
    log_policies: list[LogPolicy] = Field(default_factory=list)
    retention_policy: RetentionPolicy | None = None
    preemption_timeout: Positive | None = None
    integrations: Integrations | None = None
    data: dict[str, object] = Field(default_factory=dict)
    data_layer: dict[str, object] | None = None
    debug: bool = False
    security: Security | None = None
    slurm: Slurm = Field(default_factory=Slurm)
    pbs: Pbs = Field(default_factory=Pbs)
    ray: dict[str, object] | None = None
    """Options of Ray, in its own words."""
    tensorboard_storage: dict[str, object] | None = None
    internal: dict[str, object] | None = None

    @property
    def global_batch_size(self) -> int:
        """Records in one batch over all slots; 1 where no constant hyperparameter says so."""
        leaf = self.hyperparameters.root.get("global_batch_size")
        value = leaf.val if isinstance(leaf, Const) else 1
        return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 1

    @property
    def log_retention_days(self) -> int | None:
        """None or -1: until the experiment is deleted."""
        return None if self.retention_policy is None else self.retention_policy.log_retention_days

    @field_validator("labels")
    @classmethod
    def _each_once(cls, labels: list[str]) -> list[str]:
        return list(dict.fromkeys(labels))

    @field_validator("entrypoint")
    @classmethod
    def _runs_something(cls, entrypoint: str | list[str] | None) -> str | list[str] | None:
        words = [entrypoint] if isinstance(entrypoint, str) else entrypoint
        if words is not None and not (words and words[0].strip()):
            raise fault("is empty; write a command such as `python3 train.py`, or module:Class")
        if any("\0" in word for word in words or ()):
            raise fault("has a NUL byte (\\0), which no command line can carry; take it out")
        return entrypoint


@dataclass(frozen=True)
class ParsedExperiment:
    config: ExperimentConfig
    resolved: dict[str, object]
    """JSON-ready, in upstream's spelling, every default filled in: what trials are given."""
    warnings: tuple[str, ...] = ()
    exceeds_slots: bool = False
    """A trial asks for more slots than its pool can ever have; `warnings` says so too."""


def parse_experiment(
    text: str,
    *,
    filename: str = "config",
    template: dict[str, object] | None = None,
    overrides: Sequence[str] = (),
    defaults: ClusterDefaults,
    seed: int,
    name: str,
) -> ParsedExperiment:
    """Read, merge, check and complete. Raises InvalidConfig with every problem found, each with its place."""
    source = read_source(text, filename=filename, template=template, overrides=overrides)
    raw = _completed(source.config, defaults, seed=seed, name=name)
    config, problems = _check(raw)
    problems = [*source.problems, *problems, *_contradictions(raw), *_unknown_pool(raw, defaults)]
    if config is None or problems:
        raise InvalidConfig(source.sentences(problems))
    return _with_advice(config, source, defaults)


def reparse(resolved: dict[str, object]) -> ExperimentConfig:
    """A configuration out of stored JSON. Raises InvalidConfig if this version cannot read it."""
    config, problems = _check(resolved)
    if config is None:
        raise InvalidConfig([f"stored configuration: {dotted(each.path)}: {each.message}" for each in problems])
    return config


def _with_advice(config: ExperimentConfig, source: Source, defaults: ClusterDefaults) -> ParsedExperiment:
    too_many_slots = list(advice.slots_advice(config.resources, defaults.pools.get(config.resources.resource_pool)))
    notes = [
        *advice.keys_without_effect(source.config, defaults.runner),
        *too_many_slots,
        *advice.search_advice(config.searcher, config.hyperparameters),
    ]
    return ParsedExperiment(
        config=config,
        resolved=config.resolved(),
        warnings=tuple(source.sentences(notes)),
        exceeds_slots=bool(too_many_slots),
    )


def _completed(config: dict[str, object], defaults: ClusterDefaults, *, seed: int, name: str) -> dict[str, object]:
    """What only the cluster knows, filled in below what is written."""
    resources = config.get("resources")
    slots = resources.get("slots_per_trial", 1) if isinstance(resources, dict) else 1
    pool = defaults.aux_pool if defaults.aux_pool and slots == 0 else defaults.resource_pool
    below: dict[str, object] = {
        "name": name,
        "reproducibility": {"experiment_seed": seed},
        "checkpoint_storage": defaults.checkpoint_storage,
        "resources": {"resource_pool": pool},
        "log_policies": DEFAULT_LOG_POLICIES,
    }
    raw = merge_configs(config, below)
    merged = raw["resources"]
    if isinstance(merged, dict) and merged.get("resource_pool") == "":
        merged["resource_pool"] = pool
    return raw


def _check(raw: dict[str, object]) -> tuple[ExperimentConfig | None, list[Problem]]:
    models: dict[int, type[BaseModel]] = {}
    try:
        return ExperimentConfig.model_validate(raw, context=models), []
    except ValidationError as error:
        return None, problems_of(error, raw, models=models, hints=_hints())


_SEARCHER: TypeAdapter[SearcherBase] = TypeAdapter(Searcher, config=ConfigDict(defer_build=True))


def _contradictions(raw: dict[str, object]) -> Iterator[Problem]:
    """Faults between sections. Looked for even when other sections are wrong, so that one run shows all."""
    try:
        search = _SEARCHER.validate_python(raw.get("searcher"))
        space = Hyperparameters.model_validate(raw.get("hyperparameters") or {})
    except ValidationError:
        return
    if search.needs_space and not space.is_free:
        yield Problem(
            ("searcher", "name"),
            "searches, but every hyperparameter is constant; give one a range, or use the single searcher",
        )
    if not isinstance(search, Grid):
        return
    uncounted = [
        path for path, leaf in space.leaves() if not isinstance(leaf, Const | Categorical) and leaf.count is None
    ]
    for path in uncounted:
        message = "is missing; a grid needs to know how many points to try"
        yield Problem(("hyperparameters", *path, "count"), message, points_at_parent=True)
    points = space.points
    if not uncounted and points is not None and points > MAX_TRIALS:
        message = f"make a grid of {points:,} points; at most {MAX_TRIALS:,} are possible, so lower some count"
        yield Problem(("hyperparameters",), message)


def _unknown_pool(raw: dict[str, object], defaults: ClusterDefaults) -> Iterator[Problem]:
    """Nothing would ever run there, however long it waited."""
    resources = raw.get("resources")
    name = resources.get("resource_pool") if isinstance(resources, dict) else None
    if defaults.pools and isinstance(name, str) and name not in defaults.pools:
        yield Problem(("resources", "resource_pool"), unknown_pool(name, list(defaults.pools)))


def _hints() -> Hints:
    homes = dict.fromkeys(ExperimentConfig.model_fields, "the top level")
    for section, model in _SECTIONS.items():
        for key in model.model_fields:
            homes.setdefault(key, f"{section}.{key}")
    return Hints(
        elsewhere=homes,
        replaced={**searcher.EOL, **storage.GONE},
        choices={"name": searcher.NAMES, "type": storage.TYPES},
    )


_SECTIONS: dict[str, type[BaseModel]] = {
    "optimizations": Optimizations,
    "profiling": Profiling,
    "environment": Environment,
    "resources": Resources,
    "checkpoint_storage": storage.SharedFs,
    "searcher": searcher.AdaptiveAsha,
    "reproducibility": Reproducibility,
}
"""Where a key may belong that was written in the wrong place, the likeliest first."""
