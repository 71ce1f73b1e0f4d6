"""A model's life in Python: train, tune, deploy, try on a share of the traffic, promote.

    from resolute.lifecycle import Discrete, Model, ModelFramework

    model = Model(id="dev/mnist", name="MNIST", main_file="trainer.py", framework=ModelFramework.PYTORCH, ...)
    model.train(workers=2, hyperparameters={"--epochs": 5})
    model.deploy()

Scripts written for the Kaptain SDK find its names here, and under the SDK's own where that is not installed.
"""

import sys
from pathlib import Path

from resolute.client.lifecycle.algorithm import Algorithm
from resolute.client.lifecycle.config import (
    Config,
    DefaultMinioConfigurationProvider,
    DockerConfigurationProvider,
    DockerRegistryCertificateProvider,
    S3ConfigurationProvider,
)
from resolute.client.lifecycle.domain import Categorical, Discrete, Domain, Double, Integer
from resolute.client.lifecycle.faults import (
    ImageBuildException,
    InvalidModelProperty,
    ModelAlreadyExistsException,
    ModelDeploymentException,
    ModelValidationException,
    UndefinedModelProperty,
    UnsupportedAlgorithmException,
    UnsupportedMetricsTypeException,
    UnsupportedModelDeploymentException,
    WorkloadDeploymentError,
)
from resolute.client.lifecycle.framework import ModelFramework
from resolute.client.lifecycle.model import Model
from resolute.client.lifecycle.quantity import Resources
from resolute.client.lifecycle.record import SavedModel

__all__ = [
    "Algorithm",
    "Categorical",
    "Config",
    "DefaultMinioConfigurationProvider",
    "Discrete",
    "DockerConfigurationProvider",
    "DockerRegistryCertificateProvider",
    "Domain",
    "Double",
    "ImageBuildException",
    "Integer",
    "InvalidModelProperty",
    "Model",
    "ModelAlreadyExistsException",
    "ModelDeploymentException",
    "ModelFramework",
    "ModelValidationException",
    "Resources",
    "S3ConfigurationProvider",
    "SavedModel",
    "UndefinedModelProperty",
    "UnsupportedAlgorithmException",
    "UnsupportedMetricsTypeException",
    "UnsupportedModelDeploymentException",
    "WorkloadDeploymentError",
    "provide_kaptain",
]

_ALIASES = Path(__file__).parent / "training" / "lifecycle" / "aliases"


def provide_kaptain() -> None:
    """From now on `import kaptain...` in this process finds these names, also where the SDK is installed."""
    if str(_ALIASES) not in sys.path:
        sys.path.insert(0, str(_ALIASES))
