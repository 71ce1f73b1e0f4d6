"""Port of what starts gangs somewhere and tells how they ended."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from resolute.domain.allocation import NodeShare
from resolute.domain.node import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSpec:
    """Which Python a gang runs in. Both unset: the platform's own."""

    python: str | None = None
    requirements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """All that a runner needs to start one allocation: plain values, so that it can be rendered and compared."""

    allocation_id: str
    task_id: str
    run_id: int
    shares: tuple[NodeShare, ...]
    """One entry per node, rank order. Zero-slot tasks have one share with no slots."""
    entrypoint: str | tuple[str, ...]
    """A string runs through `sh -c` (or in-process when it is a plain python command); a list is exec'd."""
    env: dict[str, str]
    context: bytes | None = None
    """tar.gz of the model definition, unpacked into the working directory."""
    files: dict[str, str] = field(default_factory=dict)
    """Small extra files written beside the working directory (info JSON for the harness), by relative path."""
    environment: EnvironmentSpec = EnvironmentSpec()
    bind_mounts: tuple[tuple[str, str, bool], ...] = ()
    """(host path, container path, read only)."""
    log_path: str = ""
    """File that output is appended to, in the form of `domain.log`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GangStatus:
    """`exit_code` None: still running. Several ranks failing: the first one's code and a sentence."""

    exit_code: int | None = None
    reason: str = ""
    is_lost: bool = False
    """The runner knows nothing of it any more (machine rebooted): neither running nor a known exit."""
    is_final: bool = False
    """Another try would end the same way: its environment cannot be built, its context cannot be unpacked."""


class Runner(Protocol):
    """Runs gangs somewhere. Every call returns quickly and may be repeated."""

    def nodes(self) -> list[Node]: ...
    def render(self, gang: Gang) -> dict[str, Any]:
        """The native request, as JSON values; nothing is started. Secrets are left out."""

    def start(self, gang: Gang) -> str:
        """Start it and return the native handle. Repeating with the same allocation id starts nothing twice.
        Raises EnvironmentFailed, or Unavailable when it should be tried again."""

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]: ...
    def stop(self, handle: str, *, force: bool) -> None:
        """SIGTERM to every rank, or SIGKILL with `force`. Unknown or ended handles are ignored."""

    def running(self) -> list[str]:
        """Handles that are alive, also those started by an earlier master (re-attach)."""

    def close(self, *, stop_gangs: bool) -> None:
        """Let go. Gangs live on unless `stop_gangs`."""


@runtime_checkable
class Forgets(Protocol):
    """A power some runners have: giving back what an ended gang left behind."""

    def forget(self, handle: str) -> None:
        """Remove its working directory and the like. Unknown or running handles are ignored."""
