"""Where work is kept: workspaces, and the projects in them. Pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    id: int
    name: str
    user_id: int
    is_archived: bool = False
    is_immutable: bool = False
    is_pinned: bool = False
    checkpoint_storage: dict[str, Any] | None = None
    created_at: datetime


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
