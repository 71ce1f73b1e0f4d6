"""A part of a configuration kept under a name. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    name: str
    config: dict[str, object]
    workspace_id: int = 1
