"""One shared client per process, for scripts and notebooks that talk to one master."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from resolute.client.checkpoint import Checkpoint
from resolute.client.client import Client
from resolute.client.configuration import Configuration
from resolute.client.datasets import DatasetVersion
from resolute.client.deployments import Deployment
from resolute.client.experiment import Experiment
from resolute.client.models import Model
from resolute.client.trial import Trial

_shared: list[Client] = []


def login(
    master: str | None = None, user: str | None = None, password: str | None = None, *, token: str | None = None
) -> Client:
    """Choose the master and the user for the functions of this package. A wrong password is reported at once."""
    client = Client(master, user=user, password=password, token=token)
    client.users.me()
    logout()
    _shared.append(client)
    return client


def logout() -> None:
    """Let go of the shared client. Stored logins stay."""
    while _shared:
        _shared.pop().close()


def create_experiment(config: Configuration, model_dir: Path | str | None = None, **options: Any) -> Experiment:
    """See `Client.create_experiment`. A string that names a file is read as that file."""
    is_file = isinstance(config, str) and "\n" not in config and Path(config).is_file()
    return _client().create_experiment(Path(str(config)) if is_file else config, model_dir, **options)


def get_experiment(experiment_id: int) -> Experiment:
    return _client().get_experiment(experiment_id)


def list_experiments(**filters: Any) -> Iterator[Experiment]:
    return _client().list_experiments(**filters)


def get_trial(trial_id: int) -> Trial:
    return _client().get_trial(trial_id)


def get_checkpoint(uuid: str) -> Checkpoint:
    return _client().get_checkpoint(uuid)


def create_model(name: str, **options: Any) -> Model:
    """See `Client.models`."""
    return _client().models.create(name, **options)


def get_model(name: str | int) -> Model:
    return _client().models.get(name)


def create_deployment(name: str, **options: Any) -> Deployment:
    """See `Client.deployments`."""
    return _client().deployments.create(name, **options)


def get_deployment(name: str) -> Deployment:
    return _client().deployments.get(name)


def create_dataset(name: str, folder: Path | str, **options: Any) -> DatasetVersion:
    """See `Client.datasets`."""
    return _client().datasets.create(name, folder, **options)


def get_dataset(reference: str) -> DatasetVersion:
    return _client().datasets.get(reference)


def _client() -> Client:
    if not _shared:
        _shared.append(Client())
    return _shared[0]
