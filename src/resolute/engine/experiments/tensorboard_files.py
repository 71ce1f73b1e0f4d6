"""Event files that the official harness puts beside the checkpoints: where they are, and their removal."""

from resolute.domain.errors import InvalidConfig
from resolute.domain.experiment import Experiment
from resolute.engine.experiments.configuration import configuration_of
from resolute.engine.platform import Platform


def delete_tensorboard_files(platform: Platform, experiment_id: int) -> None:
    with platform.store.read() as tx:
        experiment = tx.experiments.get(experiment_id)
    remove_tensorboard_files(platform, experiment)


def remove_tensorboard_files(platform: Platform, experiment: Experiment) -> None:
    """Repeating it changes nothing. Nothing is left behind in a storage that the configuration no longer names."""
    try:
        storage = configuration_of(experiment).checkpoint_storage.resolved()
    except InvalidConfig:  # written by another version: where its files are cannot be told
        return
    cluster_id = platform.config.cluster_id
    if cluster_id:
        platform.blobs(storage).remove_folder(f"{cluster_id}/tensorboard/experiment/{experiment.id}")
