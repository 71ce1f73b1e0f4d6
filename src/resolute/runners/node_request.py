"""What the supervisor of one node is given: its part of a gang with all that the parts share, as plain JSON values.

An engine carries it to the node as a file, on standard input or in a variable; nothing in it depends on the machine it
will run on. Pure.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePath
from typing import Any

from resolute.domain.allocation import NodeShare
from resolute.domain.errors import EnvironmentFailed
from resolute.domain.gang import CLUSTER_INFO, cluster_info, node_variables
from resolute.engine.ports.runner import EnvironmentSpec, Gang, NodePart


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRequest:
    allocation_id: str
    entrypoint: str | tuple[str, ...]
    env: dict[str, str]
    rank: int = 0
    node_count: int = 1
    node_id: str = ""
    """Empty: the engine places, and the node completes the request when it knows its rank."""
    slot_ids: tuple[int, ...] = ()
    address: str = ""
    """Where the other nodes reach this one. Empty: the address from which it reaches the master."""
    files: dict[str, str] = field(default_factory=dict)
    context_id: str | None = None
    environment: EnvironmentSpec = field(default_factory=EnvironmentSpec)
    bind_mounts: tuple[tuple[str, str, bool], ...] = ()
    log_path: str = ""
    model_name: str = ""
    """Of a folder or file that the node fetches from the master, and names in RESOLUTE_MODEL_SOURCE. Empty: nothing."""
    sends_output: bool = False
    """Output and phases go to the master over its API, because no file of its is within reach."""
    notes: tuple[str, ...] = ()
    """Sentences that the task's log begins with."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def at(self, rank: int, node_count: int, share: NodeShare) -> "NodeRequest":
        """Completed on the node that the engine chose."""
        files = dict(self.files)
        if CLUSTER_INFO in files:
            files[CLUSTER_INFO] = cluster_info(files[CLUSTER_INFO], share)
        return replace(
            self,
            rank=rank,
            node_count=node_count,
            node_id=share.node_id,
            slot_ids=share.slot_ids,
            env={**self.env, **node_variables(self.allocation_id, rank, share)},
            files=files,
        )


def node_request(
    gang: Gang, part: NodePart | None = None, *, address: str = "", is_remote: bool = True, notes: tuple[str, ...] = ()
) -> NodeRequest:
    """`part` None: for whichever node the engine starts it on. Raises EnvironmentFailed for what only the local runner
    can do."""
    if is_remote and gang.account is not None:
        raise EnvironmentFailed(
            f"It is to run as {gang.account}, which only the master's own machine does. Take --run-as or "
            "agentUserGroup back, or choose a pool of that machine."
        )
    request = NodeRequest(
        allocation_id=gang.allocation_id,
        entrypoint=gang.entrypoint,
        env=gang.env,
        node_count=len(gang.nodes),
        address=address,
        files=gang.files,
        context_id=gang.context_id,
        environment=gang.environment,
        bind_mounts=gang.bind_mounts,
        log_path="" if is_remote else gang.log_path,
        model_name=PurePath(gang.model_path).name if is_remote else "",
        sends_output=is_remote,
        notes=notes,
    )
    if part is None:
        return request
    return replace(
        request,
        rank=part.rank,
        node_id=part.share.node_id,
        slot_ids=part.share.slot_ids,
        env={**gang.env, **part.env},
        files={**gang.files, **part.files},
    )


def request_from_json(text: str | bytes) -> NodeRequest:
    return _from_values(json.loads(text))


def _from_values(values: Mapping[str, Any]) -> NodeRequest:
    entrypoint = values["entrypoint"]
    environment = values["environment"]
    lists = {
        "entrypoint": entrypoint if isinstance(entrypoint, str) else tuple(entrypoint),
        "slot_ids": tuple(values["slot_ids"]),
        "notes": tuple(values["notes"]),
        "environment": EnvironmentSpec(**{**environment, "requirements": tuple(environment["requirements"])}),
        "bind_mounts": tuple((str(host), str(container), bool(ro)) for host, container, ro in values["bind_mounts"]),
    }
    return NodeRequest(**{**values, **lists})
