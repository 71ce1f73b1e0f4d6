"""When training reports, validates, checkpoints and ends: batch numbers, decided before it starts. Pure."""

from dataclasses import dataclass, field
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.training.decision_points import DecisionPoints, decision_points
from resolute.training.pytorch.lengths import Batch, Length, parse_length, to_batches

POLICIES = ("best", "all", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Periods:
    """What the user asked for; None means never (or, for `max_length`, not said)."""

    max_length: Length | None
    reporting: Length
    validation: Length | None
    checkpoint: Length | None
    policy: str
    initial_validation: bool
    records_per_epoch: int
    decisions: DecisionPoints = field(default_factory=DecisionPoints)
    """Where the searcher wants to know how good the trial is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The same, in batches."""

    max_steps: int
    reporting: int
    validation: int | None
    checkpoint: int | None
    policy: str
    initial_validation: bool
    decisions: tuple[int, ...] = ()

    def next_stop(self, step: int) -> int:
        """The next batch count at which something is due."""
        periods = (self.reporting, self.validation, self.checkpoint)
        ahead = (point for point in self.decisions if point > step)
        return min([self.max_steps, *ahead, *((step // period + 1) * period for period in periods if period)])

    def validates_at(self, step: int) -> bool:
        return step in self.decisions or bool(self.validation and step % self.validation == 0)


def periods_from(config: dict[str, Any], overrides: dict[str, Any]) -> Periods:
    """The experiment's configuration, with what the script passed to `fit` on top."""

    def given(name: str, default: Any) -> Any:
        value = overrides.get(name)
        return default if value is None else value

    searcher = config.get("searcher") or {}
    policy = str(given("checkpoint_policy", config.get("checkpoint_policy") or "best"))
    if policy not in POLICIES:
        raise InvalidInput(f"checkpoint_policy is {policy!r}; use one of {', '.join(POLICIES)}.")
    length = given("max_length", searcher.get("max_length") or _all_rounds(searcher))
    if length is None and searcher.get("max_time"):
        unit = searcher.get("time_metric")
        length = {unit: searcher["max_time"]} if unit in ("batches", "epochs", "records") else None
    reporting = parse_length(given("reporting_period", config.get("scheduling_unit") or 100), "scheduling_unit")
    return Periods(
        max_length=parse_length(length, "max_length"),
        reporting=reporting or Batch(100),
        validation=parse_length(given("validation_period", config.get("min_validation_period")), "validation period"),
        checkpoint=parse_length(given("checkpoint_period", config.get("min_checkpoint_period")), "checkpoint period"),
        policy=policy,
        initial_validation=bool(given("step_zero_validation", config.get("perform_initial_validation") or False)),
        records_per_epoch=int(config.get("records_per_epoch") or 0),
        decisions=decision_points(config),
    )


def _all_rounds(searcher: dict[str, Any]) -> Any:
    """How long a member of a population may train: its searcher stops it earlier."""
    length = parse_length(searcher.get("length_per_round"), "length_per_round")
    return type(length)(length.value * int(searcher.get("num_rounds") or 1)) if length is not None else None


def make_plan(periods: Periods, *, batches_per_epoch: int | None, global_batch_size: int) -> Plan:
    if periods.records_per_epoch:
        batches_per_epoch = max(periods.records_per_epoch // global_batch_size, 1)
    if periods.max_length is None:
        raise InvalidInput(
            "Nothing says how long to train. Pass max_length to fit, for example max_length=Epoch(5), or set "
            "searcher.max_length in the experiment's YAML."
        )

    def batches(length: Length) -> int:
        if batches_per_epoch is None and not isinstance(length, Batch):
            raise InvalidInput(
                f"{length} cannot be counted: the training data does not know its length. Use batches, or set "
                "records_per_epoch in the experiment's YAML."
            )
        return to_batches(length, batches_per_epoch=batches_per_epoch or 1, global_batch_size=global_batch_size)

    return Plan(
        max_steps=batches(periods.max_length),
        reporting=batches(periods.reporting),
        validation=batches(periods.validation) if periods.validation else None,
        checkpoint=batches(periods.checkpoint) if periods.checkpoint else None,
        policy=periods.policy,
        initial_validation=periods.initial_validation,
        decisions=periods.decisions.in_batches(
            batches_per_epoch=batches_per_epoch,
            global_batch_size=global_batch_size,
            records_per_epoch=periods.records_per_epoch,
        ),
    )
