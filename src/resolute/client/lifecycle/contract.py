"""What `Model` tells the process that runs the trainer: one section of the experiment's configuration. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from numbers import Integral, Real
from typing import Any

from resolute.client.lifecycle.domain import Domain
from resolute.client.lifecycle.faults import InvalidModelProperty
from resolute.domain.errors import InvalidInput

SECTION = "lifecycle"
"""Key under `data` in the configuration, under `metadata` of a checkpoint, and the label of experiments."""
RECORDING = "recording"
"""Beside the metrics of each recording: its number. What `train` sorts checkpoints by, so the last one counts."""
PHASE = "MODEL_LIFECYCLE_PHASE"
UPLOAD_PATH = "TRAINED_MODEL_UPLOAD_PATH"
GPUS = "GPUS"
SERVING_FILE = "serving.json"
"""What the model server reads in a folder of a trained model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOrder:
    """How the trainer is to be run, and what is added to the model that it exports."""

    model_id: str
    phase: str
    main_file: str
    flags: tuple[str, ...] = ()
    """Names of hyperparameters in the order that the user wrote them; their values are the trial's."""
    args: tuple[tuple[str, Any], ...] = ()
    is_stopped_early: bool = False
    framework: str = "pytorch"
    serving: dict[str, Any] = field(default_factory=dict)
    """Content of serving.json; empty when the model has no serving configuration."""
    serving_files: tuple[str, ...] = ()
    """Paths in the context of files that are served with the model."""
    serving_digest: str = ""

    def as_data(self) -> dict[str, Any]:
        return {SECTION: {**asdict(self), "args": [list(pair) for pair in self.args]}}

    @classmethod
    def of_config(cls, config: Mapping[str, Any]) -> "TrialOrder":
        """Raises InvalidInput for an experiment that `Model` did not make."""
        given = (config.get("data") or {}).get(SECTION)
        if not isinstance(given, dict):
            raise InvalidInput(
                "This experiment was not made by resolute.Model: its configuration has no data.lifecycle. Create it "
                "with Model.train or Model.tune."
            )
        known = {key: value for key, value in given.items() if key in cls.__dataclass_fields__}
        for key in ("flags", "serving_files"):
            known[key] = tuple(known.get(key) or ())
        known["args"] = tuple((str(name), value) for name, value in known.get("args") or ())
        return cls(**known)

    def command_line(self, hparams: Mapping[str, Any]) -> list[str]:
        """Flags of hyperparameters, then those of arguments, each as it was written."""
        pairs = [(name, hparams[name]) for name in self.flags if name in hparams]
        return [word for name, value in (*pairs, *self.args) for word in _words(name, value)]


def plain(key: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Flags and their values as they can travel: what is not a plain number or truth becomes text."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidModelProperty(f"{key}: {given!r} is not a dictionary of flags and values.")
    return {str(name): _plain(key, str(name), value) for name, value in (given or {}).items()}


def _plain(key: str, name: str, value: Any) -> Any:
    if isinstance(value, Domain):
        raise InvalidModelProperty(f"{key}: {name} is {value!r}, a domain. Give one value, or call tune().")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else str(value)


def _words(name: str, value: Any) -> list[str]:
    flag = name if name.startswith("-") else f"--{name}"
    if value is None or value == "":
        return [flag]
    # One word for a long flag, so that a value may begin with a dash.
    return [f"{flag}={value}"] if flag.startswith("--") else [flag, str(value)]
