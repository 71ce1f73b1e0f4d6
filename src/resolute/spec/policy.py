"""The smaller parts of an experiment: profiling, optimizations, log policies, retention, integrations."""

import re
import warnings
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from resolute.spec.section import Count, Positive, Section, Text, Whole, fault


class Reproducibility(Section):
    experiment_seed: Annotated[int, Field(ge=0, lt=2**32)]


class Profiling(Section):
    enabled: bool = False
    begin_on_batch: Count = 0
    end_after_batch: Count | None = None
    sync_timings: bool = True

    @field_validator("end_after_batch")
    @classmethod
    def _ends_after_it_begins(cls, end: int | None, info: ValidationInfo) -> int | None:
        begin = info.data.get("begin_on_batch", 0)
        if end is not None and end < begin:
            raise fault(f"{end} is before begin_on_batch {begin}; raise it, or leave it out to profile to the end")
        return end


class Optimizations(Section):
    aggregation_frequency: Positive = 1
    average_aggregated_gradients: bool = True
    average_training_metrics: bool = True
    gradient_compression: bool = False
    mixed_precision: Literal["O0", "O1", "O2", "O3"] = "O0"
    tensor_fusion_threshold: Count = 64
    tensor_fusion_cycle_time: Count = 1
    auto_tune_tensor_fusion: bool = False
    grad_updates_size_file: str | None = None


def _plain_action(value: object) -> object:
    # The first releases that had policies wrote {type: cancel_retries}.
    return value["type"] if isinstance(value, dict) and list(value) == ["type"] else value


DEFAULT_LOG_POLICIES: list[object] = [
    {"name": "CUDA OOM", "pattern": ".*CUDA out of memory.*"},
    {"name": "ECC Error", "pattern": ".*uncorrectable ECC error encountered.*"},
]
"""What every trial's log is watched for. They only name what happened; a policy of the same name replaces one."""


class LogPolicy(Section):
    name: Text | None = None
    pattern: Text | None = None
    """None beside a name: the policy of that name, from a template or by default, is switched off."""
    action: Annotated[Literal["cancel_retries", "exclude_node"], BeforeValidator(_plain_action)] | None = None

    @model_validator(mode="after")
    def _looks_for_something(self) -> "LogPolicy":
        if self.pattern is None and (self.name is None or self.action is not None):
            raise fault("is missing; add it", "pattern")
        return self

    @field_validator("pattern")
    @classmethod
    def _is_a_pattern(cls, pattern: str | None) -> str | None:
        if pattern is None:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise fault(f'"{pattern}" is not a regular expression: {error}') from error
        return pattern


class RetentionPolicy(Section):
    log_retention_days: Annotated[Whole, Field(ge=-1, le=32767)] | None = None


class Webhooks(Section):
    webhook_id: list[int] | None = None
    webhook_name: list[str] | None = None
    exclude: bool = False


class Integrations(Section):
    pachyderm: dict[str, object] | None = None
    webhooks: Webhooks | None = None


class Kerberos(Section):
    config_file: Text


class Security(Section):
    kerberos: Kerberos | None = None
