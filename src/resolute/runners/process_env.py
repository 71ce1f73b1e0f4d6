"""The environment variables of a gang's processes on this machine. Pure: what is inherited comes in as an argument."""

import os
from collections.abc import Mapping
from pathlib import Path

from resolute.domain.gang import CLUSTER_INFO
from resolute.domain.node import DeviceType, Node
from resolute.runners.environments import Environment
from resolute.runners.node_request import NodeRequest
from resolute.runners.shepherd.run_directory import RunDirectory
from resolute.runners.slots import usable_cores

_HARNESS_INFO = Path(__file__).parent / "harness_info"
# The master's own settings and tokens are none of a trial's business; VIRTUAL_ENV would name the wrong environment.
_NOT_INHERITED = ("RESOLUTE_", "DET_", "VIRTUAL_ENV")


def process_env(
    request: NodeRequest, environment: Environment, *, node: Node, run: RunDirectory, inherited: Mapping[str, str]
) -> dict[str, str]:
    """The environment of the runner or supervisor without secrets, then what fits the slots, then what the gang asks
    for. Only the place of its Python at the start of PATH is not the gang's to decide."""
    env = {name: value for name, value in inherited.items() if not name.startswith(_NOT_INHERITED)}
    env.update(_fitting(request, node))
    if environment.prefix is not None:
        env["VIRTUAL_ENV"] = environment.prefix
    env.update(request.env)
    if CLUSTER_INFO in request.files:
        env["RESOLUTE_INFO_DIR"] = str((run.files / CLUSTER_INFO).parent)
        env["PYTHONPATH"] = _joined(str(_HARNESS_INFO), env.get("PYTHONPATH", ""))
    own_names = "" if environment.is_found_as_python3 else str(run.bin)
    env["PATH"] = _joined(own_names, os.path.dirname(environment.python), env.get("PATH", os.defpath))
    return env


def _fitting(request: NodeRequest, node: Node) -> dict[str, str]:
    slots = {slot.id: slot for slot in node.slots}
    held = [slots[number] for number in request.slot_ids if number in slots]
    env = {"PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": str(max(1, usable_cores() // max(1, len(slots))))}
    if any(slot.type is DeviceType.CUDA for slot in node.slots):
        # Uuids mean the same device whatever order CUDA counts in. No slots: no devices.
        env["CUDA_VISIBLE_DEVICES"] = ",".join(dict.fromkeys(slot.uuid for slot in held))
    return env


def _joined(*entries: str) -> str:
    return os.pathsep.join(entry for entry in entries if entry)
