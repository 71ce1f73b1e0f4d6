"""The configuration of a stored experiment as a checked value. It is stored as JSON and parsed once per content.

Whatever is stored can be read: what changes a configuration goes through `checked` first.
"""

import logging
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from resolute.domain.errors import InvalidConfig
from resolute.domain.experiment import Experiment
from resolute.domain.retention import RetentionPolicy
from resolute.spec.experiment import ExperimentConfig, reparse

log = logging.getLogger(__name__)
_MOST_REMEMBERED = 512
"""Configurations; one of a usual size takes some 20 kB in memory and a millisecond to parse."""


def configuration_of(experiment: Experiment) -> ExperimentConfig:
    """Raises InvalidConfig for one that another version wrote and this one cannot read."""
    return checked(experiment.config)


def readable(experiment: Experiment) -> ExperimentConfig | None:
    """For the passes, which one experiment must not hold up: None for one that this version cannot read."""
    try:
        return configuration_of(experiment)
    except InvalidConfig as problem:
        log.warning("experiment %s: %s", experiment.id, problem)
        return None


def checked(config: Mapping[str, object]) -> ExperimentConfig:
    """A resolved configuration as a value. Raises InvalidConfig with every fault in it."""
    return _parsed(msgspec.json.encode(config))


@lru_cache(maxsize=_MOST_REMEMBERED)
def _parsed(content: bytes) -> ExperimentConfig:
    return reparse(msgspec.json.decode(content))


def retention_of(config: ExperimentConfig) -> RetentionPolicy:
    storage = config.checkpoint_storage
    return RetentionPolicy(
        save_experiment_best=storage.save_experiment_best,
        save_trial_best=storage.save_trial_best,
        save_trial_latest=storage.save_trial_latest,
    )
