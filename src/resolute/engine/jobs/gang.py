"""The part of a gang that is the same whatever kind of task it runs: variables that all tasks get, and one node part
for each share. The variables are those of Determined's harness; `RESOLUTE_*` twins are for our own runtime.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from resolute.domain.agent_account import AgentAccount
from resolute.domain.allocation import Allocation
from resolute.domain.gang import CLUSTER_INFO, cluster_info, node_variables
from resolute.domain.node import DeviceType
from resolute.domain.task import Task
from resolute.engine.platform import MasterConfig
from resolute.engine.ports.runner import Gang, NodePart


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """An allocation about to start: what its kind needs to know, and makes its gang of."""

    task: Task
    allocation: Allocation
    variables: Mapping[str, str]
    """What every process of every task finds in its environment."""
    device: DeviceType
    """Of its slots."""
    log_path: str
    account: AgentAccount | None = None

    def gang(
        self,
        *,
        entrypoint: str | tuple[str, ...],
        given: Mapping[str, str] | None = None,
        own: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Gang:
        """`given`: variables as the user wrote them; the platform's win. `own`: those that only this kind has.

        `options`: further fields of `Gang`.
        """
        allocation = self.allocation
        return Gang(
            allocation_id=allocation.id,
            task_id=allocation.task_id,
            run_id=allocation.run_id,
            nodes=_node_parts(allocation, files or {}),
            slots=allocation.slots_needed,
            resource_pool=allocation.resource_pool,
            entrypoint=entrypoint,
            env={**(given or {}), **self.variables, **(own or {})},
            files=dict(files or {}),
            log_path=self.log_path,
            account=self.account,
            **options,
        )


def task_variables(
    config: MasterConfig, task: Task, allocation: Allocation, *, username: str, token: str
) -> dict[str, str]:
    return {
        "DET_MASTER": config.url,
        "DET_CLUSTER_ID": config.cluster_id,
        "DET_TASK_ID": task.id,
        "DET_ALLOCATION_ID": allocation.id,
        "DET_SESSION_TOKEN": token,
        "DET_TASK_TYPE": str(task.type),
        "DET_USER": username,
        "DET_RESOURCES_TYPE": "docker-container",
        "DET_SEGMENT_ENABLED": "false",
        "DET_UNIQUE_PORT_OFFSET": "0",
        "RESOLUTE_MASTER": config.url,
        "RESOLUTE_ALLOCATION_ID": allocation.id,
        **({"DET_MASTER_CERT_FILE": config.cert_file} if config.cert_file else {}),
        **({"DET_MASTER_CERT_NAME": config.cert_name} if config.cert_name else {}),
    }


def _node_parts(allocation: Allocation, files: Mapping[str, str]) -> tuple[NodePart, ...]:
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
