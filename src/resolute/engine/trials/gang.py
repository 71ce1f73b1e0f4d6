"""From a trial and its slots to a `Gang`: the environment, files and command that a trial process finds.

The variables are those of Determined's harness, so that code written for it runs unchanged.
"""

import json
import os
import re
from collections.abc import Mapping

from resolute.domain.experiment import Experiment
from resolute.domain.gang import CLUSTER_INFO
from resolute.domain.trial import Trial
from resolute.engine.experiments.configuration import configuration_of
from resolute.engine.jobs.environment import environment_spec, mounts_of, native_options, user_variables
from resolute.engine.jobs.gang import Launch
from resolute.engine.ports.runner import Gang
from resolute.spec.experiment import ExperimentConfig
from resolute.spec.storage import COMMON, SharedFs

_HARNESS_LAUNCH = re.compile(r"python3? -m determined\.launch\.torch_distributed --trial (\S+)")


def trial_gang(
    launch: Launch,
    experiment: Experiment,
    trial: Trial,
    *,
    context: bytes | None,
    checkpoint: str | None,
    steps_completed: int,
) -> Gang:
    config = configuration_of(experiment)
    resolved = trial_config(experiment.config, config)
    environment = config.environment
    return launch.gang(
        entrypoint=_entrypoint(config),
        given=user_variables(environment, launch.device),
        own=_variables(resolved, experiment, trial, checkpoint, steps_completed),
        files=_info_files(launch.variables, resolved, trial, steps_completed, checkpoint),
        context_id=experiment.context_id,
        environment=environment_spec(environment, context, launch.device),
        native=native_options(config),
        bind_mounts=mounts_of(config),
    )


def trial_config(stored: Mapping[str, object], config: ExperimentConfig) -> dict[str, object]:
    """The stored configuration as a trial must see it: shared storage becomes a directory that exists where it runs."""
    storage = config.checkpoint_storage
    if not isinstance(storage, SharedFs):
        return dict(stored)
    kept = {key: value for key, value in storage.resolved().items() if key in COMMON}
    path = os.path.join(storage.host_path, storage.storage_path or "")
    return {**stored, "checkpoint_storage": {**kept, "type": "directory", "container_path": path.rstrip("/")}}


def _entrypoint(config: ExperimentConfig) -> str | tuple[str, ...]:
    if isinstance(config.entrypoint, list):
        return tuple(config.entrypoint)
    text = config.entrypoint or ""
    python = config.environment.python
    launched = _HARNESS_LAUNCH.fullmatch(text.strip())
    if launched and not python:
        text = launched[1]  # Our launcher trains classes of both kinds, and calls the harness for its own.
    if not is_trial_class(text):
        return text
    if python:
        # Another interpreter may not have resolute; it has the harness the class was written for.
        return f"python3 -m determined.launch.torch_distributed --trial {text}"
    return f"python3 -m resolute.launch.trial {text}"


def is_trial_class(entrypoint: str) -> bool:
    """`module:Class`, the oldest form of an entrypoint."""
    module, colon, name = entrypoint.partition(":")
    return bool(colon) and name.isidentifier() and all(part.isidentifier() for part in module.split("."))


def _variables(
    config: Mapping[str, object], experiment: Experiment, trial: Trial, checkpoint: str | None, steps_completed: int
) -> dict[str, str]:
    """What only trials have."""
    variables = {
        "DET_TRIAL_ID": str(trial.id),
        "DET_EXPERIMENT_ID": str(experiment.id),
        "DET_TRIAL_SEED": str(trial.seed),
        "DET_HPARAMS": json.dumps(trial.hparams),
        "DET_STEPS_COMPLETED": str(steps_completed),
        "DET_TRIAL_RUN_ID": str(trial.run_id),
        "DET_EXPERIMENT_CONFIG": json.dumps(config),
    }
    if checkpoint:
        variables["DET_LATEST_CHECKPOINT"] = checkpoint
    return variables


def _info_files(
    variables: Mapping[str, str],
    config: Mapping[str, object],
    trial: Trial,
    steps_completed: int,
    checkpoint: str | None,
) -> dict[str, str]:
    """The files of the harness. What differs between nodes is filled in for each of them."""
    cluster: dict[str, object] = {
        "master_url": variables["DET_MASTER"],
        "cluster_id": variables["DET_CLUSTER_ID"],
        "agent_id": "",
        "slot_ids": [],
        "task_id": variables["DET_TASK_ID"],
        "allocation_id": variables["DET_ALLOCATION_ID"],
        "session_token": variables["DET_SESSION_TOKEN"],
        "task_type": variables["DET_TASK_TYPE"],
        "master_cert_name": None,
        "master_cert_file": None,
        "latest_checkpoint": checkpoint,
    }
    trial_info = {
        "trial_id": trial.id,
        "experiment_id": trial.experiment_id,
        "trial_seed": trial.seed,
        "hparams": trial.hparams,
        "config": config,
        "steps_completed": steps_completed,
        "trial_run_id": trial.run_id,
        "debug": bool(config.get("debug")),
        "inter_node_network_interface": None,
    }
    return {
        CLUSTER_INFO: json.dumps(cluster),
        "info/trial.json": json.dumps(trial_info),
        "info/resources.json": json.dumps({"gpu_uuids": []}),
    }
