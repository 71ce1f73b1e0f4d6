"""A part of a configuration kept under a name. Pure."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    name: str
    config: dict[str, Any]
    workspace_id: int = 1
