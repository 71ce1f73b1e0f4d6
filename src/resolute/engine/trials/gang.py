"""From a trial and its slots to a `Gang`: the environment, files and command that a trial process finds.

The variables are those of Determined's harness, so that code written for it runs unchanged; `RESOLUTE_*` twins are for
our own runtime.
"""

import io
import json
import os
import posixpath
import re
import socket
import tarfile
from typing import Any

from resolute.domain.allocation import Allocation
from resolute.domain.errors import InvalidInput
from resolute.domain.experiment import Experiment
from resolute.domain.node import DeviceType
from resolute.domain.trial import Trial
from resolute.engine.platform import MasterConfig
from resolute.engine.ports.runner import EnvironmentSpec, Gang

_HARNESS_LAUNCH = re.compile(r"python3? -m determined\.launch\.torch_distributed --trial (\S+)")


def trial_gang(
    config: MasterConfig,
    experiment: Experiment,
    trial: Trial,
    allocation: Allocation,
    *,
    token: str,
    username: str,
    context: bytes | None,
    checkpoint: str | None,
    steps_completed: int,
    log_path: str,
    ports: tuple[int, ...],
    device: DeviceType = DeviceType.CPU,
) -> Gang:
    resolved = trial_config(experiment.config)
    facts = _facts(config, experiment, trial, allocation, token, checkpoint)
    environment = resolved.get("environment") or {}
    return Gang(
        allocation_id=allocation.id,
        task_id=trial.task_id,
        run_id=trial.run_id,
        shares=allocation.shares,
        entrypoint=_entrypoint(resolved),
        env={
            **_user_variables(environment, device),
            **_variables(facts, resolved, trial, username, steps_completed, ports),
        },
        context=context,
        files=_info_files(facts, resolved, trial, steps_completed, allocation),
        environment=EnvironmentSpec(
            python=environment.get("python"), requirements=required_packages(environment, context)
        ),
        bind_mounts=tuple(
            (mount["host_path"], mount["container_path"], bool(mount.get("read_only")))
            for mount in resolved.get("bind_mounts") or ()
        ),
        log_path=log_path,
    )


def trial_config(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration as a trial must see it: shared storage becomes a directory that exists where it runs."""
    storage = config.get("checkpoint_storage") or {}
    if storage.get("type") != "shared_fs":
        return config
    path = os.path.join(storage["host_path"], storage.get("storage_path") or "")
    kept = {key: value for key, value in storage.items() if key.startswith("save_")}
    return {**config, "checkpoint_storage": {**kept, "type": "directory", "container_path": path.rstrip("/")}}


def _entrypoint(config: dict[str, Any]) -> str | tuple[str, ...]:
    entrypoint = config.get("entrypoint")
    if isinstance(entrypoint, list):
        return tuple(str(part) for part in entrypoint)
    text = str(entrypoint or "")
    environment = config.get("environment") or {}
    launched = _HARNESS_LAUNCH.fullmatch(text.strip())
    if launched and not environment.get("python"):
        text = launched[1]  # Our launcher trains classes of both kinds, and calls the harness for its own.
    if not is_trial_class(text):
        return text
    if environment.get("python"):
        # Another interpreter may not have resolute; it has the harness the class was written for.
        return f"python3 -m determined.launch.torch_distributed --trial {text}"
    return f"python3 -m resolute.launch.trial {text}"


def is_trial_class(entrypoint: str) -> bool:
    """`module:Class`, the oldest form of an entrypoint."""
    module, colon, name = entrypoint.partition(":")
    return bool(colon) and name.isidentifier() and all(part.isidentifier() for part in module.split("."))


def required_packages(environment: dict[str, Any], context: bytes | None) -> tuple[str, ...]:
    """`environment.requirements`: the list itself, or the lines of the file in the context that it names."""
    given = environment.get("requirements") or ()
    if not isinstance(given, str):
        return tuple(given)
    lines = (line.partition("#")[0].strip() for line in _context_file(context, given).splitlines())
    packages = tuple(line for line in lines if line)
    nested = [line for line in packages if line.startswith(("-r", "--requirement", "-c", "--constraint"))]
    if nested:
        raise InvalidInput(
            f"environment.requirements: {given} refers to another file ({nested[0]}); put all requirements into one."
        )
    return packages


def _context_file(context: bytes | None, path: str) -> str:
    wanted = posixpath.normpath(path)
    if context:
        with tarfile.open(fileobj=io.BytesIO(context), mode="r:gz") as archive:
            for member in archive:
                if posixpath.normpath(member.name) == wanted and member.isfile():
                    file = archive.extractfile(member)
                    return file.read().decode(errors="replace") if file else ""
    raise InvalidInput(
        f"environment.requirements: there is no file {path!r} in the uploaded folder; add it, or list the packages."
    )


def _facts(
    config: MasterConfig,
    experiment: Experiment,
    trial: Trial,
    allocation: Allocation,
    token: str,
    checkpoint: str | None,
) -> dict[str, Any]:
    """What `cluster.json` holds, and the source of the variables."""
    share = allocation.shares[0]
    return {
        "master_url": config.url,
        "cluster_id": config.cluster_id,
        "agent_id": share.node_id,
        "slot_ids": list(share.slot_ids),
        "task_id": trial.task_id,
        "allocation_id": allocation.id,
        "session_token": token,
        "task_type": "TRIAL",
        "master_cert_name": None,
        "master_cert_file": None,
        "latest_checkpoint": checkpoint,
        "experiment_id": experiment.id,
    }


def _variables(
    facts: dict[str, Any],
    config: dict[str, Any],
    trial: Trial,
    username: str,
    steps_completed: int,
    ports: tuple[int, ...],
) -> dict[str, str]:
    c10d, ssh, communication, communication_2 = ports
    variables = {
        "DET_MASTER": facts["master_url"],
        "DET_CLUSTER_ID": facts["cluster_id"],
        "DET_AGENT_ID": facts["agent_id"],
        "DET_SLOT_IDS": json.dumps(facts["slot_ids"]),
        "DET_TASK_ID": facts["task_id"],
        "DET_ALLOCATION_ID": facts["allocation_id"],
        "DET_SESSION_TOKEN": facts["session_token"],
        "DET_TASK_TYPE": "TRIAL",
        "DET_USER": username,
        "DET_TRIAL_ID": str(trial.id),
        "DET_EXPERIMENT_ID": str(facts["experiment_id"]),
        "DET_TRIAL_SEED": str(trial.seed),
        "DET_HPARAMS": json.dumps(trial.hparams),
        "DET_STEPS_COMPLETED": str(steps_completed),
        "DET_TRIAL_RUN_ID": str(trial.run_id),
        "DET_EXPERIMENT_CONFIG": json.dumps(config),
        "DET_RESOURCES_ID": facts["allocation_id"],
        "DET_RESOURCES_TYPE": "docker-container",
        "DET_CONTAINER_ID": facts["allocation_id"][-8:],
        "DET_SEGMENT_ENABLED": "false",
        "DET_UNIQUE_PORT_OFFSET": "0",
        "C10D_PORT": str(c10d),
        "DTRAIN_SSH_PORT": str(ssh),
        "INTER_TRAIN_PROCESS_COMM_PORT_1": str(communication),
        "INTER_TRAIN_PROCESS_COMM_PORT_2": str(communication_2),
        "RESOLUTE_MASTER": facts["master_url"],
    }
    if facts["latest_checkpoint"]:
        variables["DET_LATEST_CHECKPOINT"] = facts["latest_checkpoint"]
    return variables


def _user_variables(environment: dict[str, Any], device: DeviceType) -> dict[str, str]:
    """`environment_variables` as the user wrote them, for this kind of slot; what the platform itself sets wins."""
    given = environment.get("environment_variables") or []
    pairs = given.get(device.lower()) or [] if isinstance(given, dict) else given
    return dict(str(pair).partition("=")[::2] for pair in pairs)


def _info_files(
    facts: dict[str, Any], config: dict[str, Any], trial: Trial, steps_completed: int, allocation: Allocation
) -> dict[str, str]:
    cluster = {key: value for key, value in facts.items() if key != "experiment_id"}
    trial_info = {
        "trial_id": trial.id,
        "experiment_id": facts["experiment_id"],
        "trial_seed": trial.seed,
        "hparams": trial.hparams,
        "config": config,
        "steps_completed": steps_completed,
        "trial_run_id": trial.run_id,
        "debug": bool(config.get("debug")),
        "inter_node_network_interface": None,
    }
    rendezvous = {
        "container_addrs": ["127.0.0.1"] * len(allocation.shares),
        "container_rank": 0,
        "container_slot_counts": [len(share.slot_ids) for share in allocation.shares],
    }
    return {
        "info/cluster.json": json.dumps(cluster),
        "info/trial.json": json.dumps(trial_info),
        "info/rendezvous.json": json.dumps(rendezvous),
        "info/resources.json": json.dumps({"gpu_uuids": []}),
    }


def free_ports(count: int = 4) -> tuple[int, ...]:
    """Ports nobody listens on right now, for the rendezvous of one trial."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return tuple(each.getsockname()[1] for each in sockets)
    finally:
        for each in sockets:
            each.close()
