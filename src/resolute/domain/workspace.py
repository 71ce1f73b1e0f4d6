"""Where work is kept: workspaces, and the projects in them. Pure.

An archived one takes nothing new and keeps its name and notes. What is in it can be looked at, stopped and deleted.
"""

from dataclasses import dataclass
from datetime import datetime

from resolute.domain.agent_account import AgentAccount
from resolute.domain.errors import IllegalTransition


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    id: int
    name: str
    user_id: int
    is_archived: bool = False
    is_immutable: bool = False
    is_pinned: bool = False
    checkpoint_storage: dict[str, object] | None = None
    """Where checkpoints of its experiments go that name no storage; laid over the cluster's."""
    default_compute_pool: str = ""
    """Where its experiments run that name no pool; empty: the cluster's default."""
    default_aux_pool: str = ""
    """The same for tasks without slots."""
    created_at: datetime
    agent_account: AgentAccount | None = None
    """As which account of a machine work in it runs, whoever owns it. None: as its owner has it."""

    def require_open(self) -> None:
        """Raises IllegalTransition."""
        if self.is_archived:
            raise IllegalTransition(f"Workspace {self.name!r} is archived. Unarchive it first.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    id: int
    workspace_id: int
    name: str
    key: str
    user_id: int
    description: str = ""
    notes: tuple[dict[str, str], ...] = ()
    is_archived: bool = False
    is_immutable: bool = False
    created_at: datetime

    def require_open(self, workspace: Workspace) -> None:
        """`workspace` is the one it is in. Raises IllegalTransition."""
        workspace.require_open()
        if self.is_archived:
            raise IllegalTransition(f"Project {self.name!r} is archived. Unarchive it first.")
