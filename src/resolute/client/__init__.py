"""Python SDK over the REST API.

    from resolute import client

    experiment = client.create_experiment("config.yaml", "model/")
    experiment.wait()
    experiment.top_checkpoint().download()

The functions here use one shared `Client`, made from the environment on first use or by `login`. Names load on first
use, so that importing this package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resolute.client.checkpoint import Checkpoint
    from resolute.client.client import Client
    from resolute.client.datasets import DatasetVersion
    from resolute.client.default import (
        create_dataset,
        create_deployment,
        create_experiment,
        create_model,
        get_checkpoint,
        get_dataset,
        get_deployment,
        get_experiment,
        get_model,
        get_trial,
        list_experiments,
        login,
        logout,
    )
    from resolute.client.deployments import Deployment
    from resolute.client.experiment import Experiment
    from resolute.client.logs import LogFilter
    from resolute.client.models import Model, ModelVersion
    from resolute.client.trial import Trial

_WHERE = {
    "Client": "client",
    "Checkpoint": "checkpoint",
    "DatasetVersion": "datasets",
    "Deployment": "deployments",
    "Experiment": "experiment",
    "LogFilter": "logs",
    "Model": "models",
    "ModelVersion": "models",
    "Trial": "trial",
    "create_dataset": "default",
    "create_deployment": "default",
    "create_experiment": "default",
    "create_model": "default",
    "get_checkpoint": "default",
    "get_dataset": "default",
    "get_deployment": "default",
    "get_experiment": "default",
    "get_model": "default",
    "get_trial": "default",
    "list_experiments": "default",
    "login": "default",
    "logout": "default",
}

__all__ = [
    "Checkpoint",
    "Client",
    "DatasetVersion",
    "Deployment",
    "Experiment",
    "LogFilter",
    "Model",
    "ModelVersion",
    "Trial",
    "create_dataset",
    "create_deployment",
    "create_experiment",
    "create_model",
    "get_checkpoint",
    "get_dataset",
    "get_deployment",
    "get_experiment",
    "get_model",
    "get_trial",
    "list_experiments",
    "login",
    "logout",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
