"""Finds out where the ranks of this allocation meet: from the master, from the environment, or alone on this host."""

import json
import os
import socket
from collections.abc import Mapping
from typing import Any

from resolute.client.task.client import TaskClient
from resolute.client.task.retry import RENDEZVOUS
from resolute.domain.errors import InvalidInput, Unavailable
from resolute.training.launch.command import Rendezvous

DEFAULT_PORT = 29500
_WAIT_S = 600.0


def find_rendezvous(nproc: int | None, env: Mapping[str, str] = os.environ) -> Rendezvous:
    """`nproc` overrides the slots of this host, for one host only."""
    facts = _from_environment(env) or _from_master(env)
    if facts is not None and len(facts["addresses"]) > 1:
        if nproc is not None:
            raise InvalidInput("--nproc cannot be used on several hosts; set resources.slots_per_trial instead.")
        return Rendezvous(
            addresses=tuple(facts["addresses"]),
            node_rank=int(facts["rank"]),
            slots=tuple(max(int(count), 1) for count in facts["slots"]),
            port=int(env.get("C10D_PORT") or DEFAULT_PORT),
        )
    # On one host the port may be taken between the master's choice and now, so it is chosen here.
    return Rendezvous(slots=(nproc or _local_slots(env),), port=_free_port())


def _from_environment(env: Mapping[str, str]) -> dict[str, Any] | None:
    """`RESOLUTE_RENDEZVOUS`, for engines that know the hosts before the processes start."""
    text = env.get("RESOLUTE_RENDEZVOUS")
    if not text:
        return None
    facts = json.loads(text)
    return {"addresses": facts["addresses"], "rank": facts["rank"], "slots": facts["slots"]}


def _from_master(env: Mapping[str, str]) -> dict[str, Any] | None:
    """Only asked when the allocation may span hosts: one host needs no call."""
    wanted = (json.loads(env.get("DET_EXPERIMENT_CONFIG") or "{}").get("resources") or {}).get("slots_per_trial") or 1
    here = len(json.loads(env.get("DET_SLOT_IDS") or "[]"))
    master = TaskClient.of(env) if 0 < here < wanted else None
    if master is None:
        return None
    path = f"/api/v1/allocations/{env['DET_ALLOCATION_ID']}/resources/{env['DET_RESOURCES_ID']}/rendezvous"
    try:
        facts: dict[str, Any] = RENDEZVOUS.run(lambda: master.get(path, timeout_s=_WAIT_S))["rendezvousInfo"]
    except Unavailable as error:
        raise Unavailable(f"The master did not say where the other hosts are. {error}") from error
    finally:
        master.close()
    return facts


def _local_slots(env: Mapping[str, str]) -> int:
    if "DET_SLOT_IDS" in env:
        return max(len(json.loads(env["DET_SLOT_IDS"])), 1)
    visible = env.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return max(len([part for part in visible.split(",") if part.strip()]), 1)
    return max(sum(name.startswith("nvidia") and name[6:].isdigit() for name in os.listdir("/dev")), 1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
