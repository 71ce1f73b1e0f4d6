"""What has happened to a model so far: its state, revision, saved models, metrics and data.

It becomes JSON and is made of it.
"""

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from resolute.client.lifecycle.faults import InvalidModelProperty, UnsupportedMetricsTypeException

Json = dict[str, Any]
METRICS_TYPES = ("training", "testing", "validation", "production")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedModel:
    """One model that a run exported: where it lies, and as what the platform knows it."""

    uri: str
    kind: str
    checkpoint: str
    registered: str
    """`<model>/<version>` in the registry."""
    experiment_id: int
    serving_digest: str = ""


@dataclass(slots=True, kw_only=True)
class ModelRecord:
    """Mutable: each action of `Model` writes here and gives the model a new revision."""

    revision: str = field(default_factory=lambda: str(uuid.uuid4()))
    state: str = "untrained"
    hyperparameters: Json = field(default_factory=dict)
    metrics: dict[str, Json] = field(default_factory=dict)
    """Type of metrics to names and values."""
    data: list[Json] = field(default_factory=list)
    saved: list[SavedModel] = field(default_factory=list)
    """Oldest first."""
    best_trial_name: str | None = None

    @property
    def latest(self) -> SavedModel | None:
        return self.saved[-1] if self.saved else None

    def saved_at(self, uri: str) -> SavedModel | None:
        return next((each for each in self.saved if each.uri == uri.rstrip("/")), None)

    def moved_to(self, state: str) -> None:
        self.state = state
        self.renew()

    def renew(self) -> None:
        self.revision = str(uuid.uuid4())

    def log_metrics(self, metrics: Mapping[str, Any], metrics_type: str, uri: str | None) -> None:
        kind = str(metrics_type).lower()
        if kind not in METRICS_TYPES:
            raise UnsupportedMetricsTypeException(
                f"metrics_type: {metrics_type!r} is unknown. Choose one of {', '.join(METRICS_TYPES)}."
            )
        if not isinstance(metrics, Mapping) or not metrics:
            raise InvalidModelProperty(f"metrics: {metrics!r} is not a dictionary of names and values.")
        values = {str(name): number_of(str(name), value) for name, value in metrics.items()}
        self.metrics[kind] = {**self.metrics.get(kind, {}), **values, **({"uri": uri} if uri else {})}
        self.renew()

    def log_data(self, **facts: Any) -> None:
        if not facts.get("name") or not facts.get("uri"):
            raise InvalidModelProperty("log_data: a data set needs a name and a uri.")
        self.data.append({key: value for key, value in facts.items() if value is not None})
        self.renew()

    def as_data(self) -> Json:
        return asdict(self)

    @classmethod
    def of_data(cls, given: Mapping[str, Any]) -> "ModelRecord":
        known = {key: value for key, value in given.items() if key in cls.__dataclass_fields__}
        return cls(**{**known, "saved": [SavedModel(**each) for each in known.get("saved") or []]})


def number_of(name: str, value: Any) -> float:
    """Trainers often write metrics as text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidModelProperty(f"metric {name!r} is {value!r}; give a number.") from None
