"""The part of a gang that is the same whatever kind of task it runs: variables that all tasks get, and one node part
for each share. The variables are those of Determined's harness; `RESOLUTE_*` twins are for our own runtime.
"""

from collections.abc import Mapping

from resolute.domain.allocation import Allocation
from resolute.domain.gang import CLUSTER_INFO, cluster_info, node_variables
from resolute.engine.platform import MasterConfig
from resolute.engine.ports.runner import NodePart


def task_variables(
    config: MasterConfig, allocation: Allocation, *, task_type: str, username: str, token: str
) -> dict[str, str]:
    """What every process of every task finds in its environment."""
    return {
        "DET_MASTER": config.url,
        "DET_CLUSTER_ID": config.cluster_id,
        "DET_TASK_ID": allocation.task_id,
        "DET_ALLOCATION_ID": allocation.id,
        "DET_SESSION_TOKEN": token,
        "DET_TASK_TYPE": task_type,
        "DET_USER": username,
        "DET_RESOURCES_TYPE": "docker-container",
        "DET_SEGMENT_ENABLED": "false",
        "DET_UNIQUE_PORT_OFFSET": "0",
        "RESOLUTE_MASTER": config.url,
        "RESOLUTE_ALLOCATION_ID": allocation.id,
    }


def node_parts(allocation: Allocation, files: Mapping[str, str]) -> tuple[NodePart, ...]:
    """One for each share, in rank order. `files`: those of the whole gang, of which a node gets its own edition."""
    return tuple(
        NodePart(
            share=share,
            rank=rank,
            env=node_variables(allocation.id, rank, share),
            files={CLUSTER_INFO: cluster_info(files[CLUSTER_INFO], share)} if CLUSTER_INFO in files else {},
        )
        for rank, share in enumerate(allocation.shares)
    )
