"""How trials are chosen: what a user may write under `searcher`. The algorithms are in `resolute.search`.

Both dialects are read. The older one gives a `max_length`; the newer one gives `time_metric` and `max_time`, and its
trials are stopped, never promoted. Resolved, `stop_once` alone says which of the two styles is meant.
"""

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag, field_validator, model_serializer, model_validator

from resolute.spec.length import Length, LengthOrUnits
from resolute.spec.limits import MAX_RUNGS
from resolute.spec.section import (
    AsList,
    AsMap,
    AsPlain,
    Count,
    Fraction,
    Number,
    PlainOrList,
    PlainOrMap,
    Positive,
    Rungs,
    Section,
    Text,
    Trials,
    fault,
)

EOL: dict[str, str] = {
    "adaptive": "adaptive_asha",
    "adaptive_simple": "adaptive_asha",
    "sync_halving": "async_halving",
}
"""Names that were taken out long ago, each with the one that does its work today."""

ENTRYPOINT = r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$"


class SearcherBase(Section):
    """Keys that every searcher has."""

    needs_space: ClassVar[bool] = True
    """Whether it is senseless without a free hyperparameter."""

    name: str
    metric: Annotated[Annotated[Text, AsPlain] | Annotated[list[Text], AsList], PlainOrList]
    smaller_is_better: Annotated[Annotated[bool, AsPlain] | Annotated[list[bool], AsList], PlainOrList] = True
    max_length: LengthOrUnits | None = None
    time_metric: Text | None = None
    max_time: Positive | None = None
    source_trial_id: Positive | None = None
    source_checkpoint_uuid: Text | None = None
    source_experiment_ids: list[Positive] = Field(default_factory=list)
    """Earlier experiments whose results inform which points are tried first."""
    goal: Annotated[Annotated[Number, AsPlain] | Annotated[list[Number | None], AsList], PlainOrList] | None = None
    """Stop the whole search when a validation is this good."""
    max_failed_trials: Count | None = None
    """End the search as failed once more trials than this have failed; null: never."""

    @classmethod
    def prepared(cls, data: dict[str, object]) -> dict[str, object]:
        given = super().prepared(data)
        metric = given.get("metric")
        if isinstance(metric, list) and len(metric) == 1:
            given |= {key: _only(given[key]) for key in ("metric", "smaller_is_better", "goal") if key in given}
        elif isinstance(metric, list) and isinstance(given.get("smaller_is_better", True), bool):
            given["smaller_is_better"] = [given.get("smaller_is_better", True)] * len(metric)
        return given

    @property
    def metrics(self) -> dict[str, bool]:
        """Every objective with its direction: True when smaller is better."""
        if isinstance(self.metric, str):
            return {self.metric: bool(self.smaller_is_better)}
        directions = self.smaller_is_better if isinstance(self.smaller_is_better, list) else []
        return dict(zip(self.metric, directions, strict=True))

    @property
    def full_length(self) -> int:
        """How far a trial trains that is not stopped, in the unit of the length; 1 when only its own code knows."""
        if self.max_time is not None:
            return self.max_time
        return self.max_length.units if isinstance(self.max_length, Length) else self.max_length or 1

    @field_validator("max_length")
    @classmethod
    def _trains(cls, length: Length | int | None) -> Length | int | None:
        if isinstance(length, Length) and length.units == 0:
            raise fault("a length of 0 trains nothing; give at least 1", length.unit.value)
        return length

    @model_validator(mode="after")
    def _objectives_agree(self) -> "SearcherBase":
        names = [self.metric] if isinstance(self.metric, str) else self.metric
        if not names or len(set(names)) != len(names):
            raise fault("metric needs one name, or several that differ", "metric")
        for key in ("smaller_is_better", "goal"):
            value = getattr(self, key)
            wanted = len(names) if isinstance(self.metric, list) else None
            if value is None or (isinstance(value, list) and len(value) == wanted):
                continue
            if wanted is not None or isinstance(value, list):
                shown = f"a list of {wanted}, one for each metric" if wanted else "one value, as there is one metric"
                raise fault(f"{key} must be {shown}", key)
        return self

    @model_validator(mode="after")
    def _one_start(self) -> "SearcherBase":
        if self.source_trial_id is not None and self.source_checkpoint_uuid is not None:
            raise fault(
                "source_trial_id and source_checkpoint_uuid both name a start; keep one", "source_checkpoint_uuid"
            )
        return self

    @model_validator(mode="after")
    def _time_is_whole(self) -> "SearcherBase":
        if (self.time_metric is None) != (self.max_time is None):
            missing, given = ("max_time", "time_metric") if self.max_time is None else ("time_metric", "max_time")
            raise fault(f"{given} needs {missing} beside it; add {missing}, or use max_length", given)
        return self


class Single(SearcherBase):
    needs_space = False
    name: Literal["single"]


class Random(SearcherBase):
    needs_space = False  # the same training from several seeds
    name: Literal["random"]
    max_trials: Trials
    max_concurrent_trials: Count = 16


class Grid(SearcherBase):
    needs_space = False
    name: Literal["grid"]
    max_concurrent_trials: Count = 16


class Patience(Section):
    """A trial is spared at its first `rungs`, and until it has trained this long."""

    rungs: Count | None = None
    batches: Count | None = None
    records: Count | None = None
    epochs: Count | None = None
    time: Count | None = None

    @model_serializer
    def _only_what_was_given(self) -> dict[str, int]:
        return {key: value for key in type(self).model_fields if (value := getattr(self, key)) is not None}


class _Halving(SearcherBase):
    """What the halving family shares. `stop_once` false: trials wait at a rung and the best are promoted."""

    needs_space = False
    max_trials: Trials
    divisor: Number = 4
    max_concurrent_trials: Count = 16
    stop_once: bool = False
    patience: Annotated[Annotated[Count, AsPlain] | Annotated[Patience, AsMap], PlainOrMap] | None = None
    """For models that learn late: rungs at which no trial is stopped, or a map such as {epochs: 10}."""

    @classmethod
    def prepared(cls, data: dict[str, object]) -> dict[str, object]:
        given = super().prepared(data)
        if "time_metric" in given:
            # The newer dialect knows stopping only, whatever `stop_once` says.
            given["stop_once"] = True
        return given

    @field_validator("divisor")
    @classmethod
    def _divides(cls, divisor: float) -> float:
        if divisor <= 1:
            raise fault(f"divisor {divisor:g} must be greater than 1; 4 keeps the best quarter at each rung")
        return divisor

    @model_validator(mode="after")
    def _knows_its_budget(self) -> "_Halving":
        if self.max_length is None and self.max_time is None:
            raise fault(
                "needs a budget: max_length (for example {batches: 5000}), or time_metric and max_time", "max_length"
            )
        return self


class AsyncHalving(_Halving):
    name: Literal["async_halving"]
    num_rungs: Rungs


class _Adaptive(_Halving):
    """Several brackets of halving at once, from patient to strict."""

    mode: Literal["aggressive", "standard", "conservative"] = "standard"
    max_rungs: Rungs = 5
    bracket_rungs: list[Rungs] = Field(default_factory=list, max_length=MAX_RUNGS)


class AdaptiveAsha(_Adaptive):
    name: Literal["adaptive_asha"]


class AdaptiveTpe(_Adaptive):
    """Our own: the stopping of adaptive_asha, with a model of past trials choosing the next."""

    needs_space = True
    name: Literal["adaptive_tpe"]
    startup_trials: Positive = 10
    """Trials drawn at random before the model is asked."""
    stop_once: bool = True


class Tpe(SearcherBase):
    """Our own: whole trials, each chosen by a model of those before it."""

    name: Literal["tpe"]
    max_trials: Trials
    max_concurrent_trials: Count = 16
    startup_trials: Positive = 10


class ReplaceFunction(Section):
    truncate_fraction: Fraction = 0.2


class ExploreFunction(Section):
    resample_probability: Fraction = 0.2
    perturb_factor: Fraction = 0.2


class Pbt(SearcherBase):
    name: Literal["pbt"]
    population_size: Trials
    num_rounds: Trials
    length_per_round: LengthOrUnits
    replace_function: ReplaceFunction = Field(default_factory=ReplaceFunction)
    explore_function: ExploreFunction = Field(default_factory=ExploreFunction)

    @field_validator("length_per_round")
    @classmethod
    def _each_round_trains(cls, length: Length | int) -> Length | int:
        cls._trains(length)
        return length

    @model_validator(mode="after")
    def _someone_is_left(self) -> "Pbt":
        fraction = self.replace_function.truncate_fraction
        if fraction > 0.5:
            raise fault(
                f"truncate_fraction {fraction:g} replaces more trials than there are to copy; use at most 0.5",
                "replace_function",
                "truncate_fraction",
            )
        return self


class Custom(SearcherBase):
    """A class of the user's, or with no `entrypoint` a program that asks and tells over the API."""

    needs_space = False
    name: Literal["custom"]
    entrypoint: Annotated[str, Field(pattern=ENTRYPOINT)] | None = None
    config: dict[str, object] = Field(default_factory=dict)
    unit: Literal["batches", "records", "epochs"] | None = None
    max_trials: Trials | None = None
    max_concurrent_trials: Count = 16


def _name(value: object) -> object:
    return value.get("name") if isinstance(value, dict) else getattr(value, "name", None)


Searcher: TypeAlias = Annotated[
    Annotated[Single, Tag("single")]
    | Annotated[Random, Tag("random")]
    | Annotated[Grid, Tag("grid")]
    | Annotated[AsyncHalving, Tag("async_halving")]
    | Annotated[AdaptiveAsha, Tag("adaptive_asha")]
    | Annotated[AdaptiveTpe, Tag("adaptive_tpe")]
    | Annotated[Tpe, Tag("tpe")]
    | Annotated[Pbt, Tag("pbt")]
    | Annotated[Custom, Tag("custom")],
    Discriminator(_name),
]
NAMES = ("single", "random", "grid", "async_halving", "adaptive_asha", "adaptive_tpe", "tpe", "pbt", "custom")


def _only(value: object) -> object:
    return value[0] if isinstance(value, list) and len(value) == 1 else value
