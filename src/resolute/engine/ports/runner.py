"""Port of what starts gangs somewhere and tells how they ended."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from resolute.domain.agent_account import AgentAccount
from resolute.domain.allocation import NodeShare
from resolute.domain.gang import Phase
from resolute.domain.node import Node, Pool


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSpec:
    """What a gang runs in. All unset: the platform's own Python."""

    python: str | None = None
    requirements: tuple[str, ...] = ()
    image: str | None = None
    """For engines with containers. Others say in the task's log that they do not use it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePart:
    """What one node of a gang gets beside what all share."""

    share: NodeShare
    rank: int = 0
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """All that a runner needs to start one allocation: plain values, so that it can be rendered and compared."""

    allocation_id: str
    task_id: str
    run_id: int
    nodes: tuple[NodePart, ...] = ()
    """One per node, in rank order. Empty in a delegating pool, where the engine turns `slots` into nodes; the
    supervisor on each of them then completes its part by itself."""
    entrypoint: str | tuple[str, ...]
    """A string runs through `sh -c` (or in-process when it is a plain python command); a list is exec'd."""
    env: dict[str, str]
    """Of every node; a node's own wins."""
    slots: int = 0
    resource_pool: str = "default"
    context_id: str | None = None
    """Content hash of the model definition (a tar.gz), which each node fetches once and keeps."""
    files: dict[str, str] = field(default_factory=dict)
    """Small extra files written beside the working directory (info JSON for the harness), by relative path."""
    environment: EnvironmentSpec = EnvironmentSpec()
    native: dict[str, object] = field(default_factory=dict)
    """Options for one engine, under its name and in its words: `pod_spec`, `slurm`, `pbs`, `ray`."""
    bind_mounts: tuple[tuple[str, str, bool], ...] = ()
    """(host path, container path, read only)."""
    model_path: str = ""
    """Folder or file of the master's machine with a trained model, as RESOLUTE_MODEL_SOURCE names it. On another
    machine the supervisor fetches it from the master, and the variable names the copy."""
    account: AgentAccount | None = None
    """As whom its processes run, on a runner that can do that. None: as the runner."""
    log_path: str = ""
    """File of the master's machine that output is appended to, in the form of `domain.log`. From another machine it is
    sent to the master."""

    @property
    def shares(self) -> tuple[NodeShare, ...]:
        return tuple(part.share for part in self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class GangStatus:
    """`exit_code` None: still running. Several ranks failing: the first one's code and a sentence."""

    phase: Phase = Phase.RUNNING
    exit_code: int | None = None
    reason: str = ""
    is_lost: bool = False
    """The runner knows nothing of it any more (machine rebooted): neither running nor a known exit."""
    is_final: bool = False
    """Another try would end the same way: its environment cannot be built, its context cannot be unpacked."""
    shares: tuple[NodeShare, ...] = ()
    """In a delegating pool: where the engine put it, in rank order, once it has."""
    addresses: tuple[str, ...] = ()
    """Of the nodes in `shares`."""

    @property
    def is_over(self) -> bool:
        return self.exit_code is not None or self.is_lost


class Runner(Protocol):
    """Runs gangs somewhere. Every call returns quickly, may be repeated, and may come from any thread."""

    def pools(self) -> list[Pool]:
        """All that work may be sent to, also those without a node; the first is the default one."""

    def nodes(self) -> list[Node]: ...
    def render(self, gang: Gang) -> dict[str, object]:
        """The native request, as JSON values; nothing is started. Secrets are left out."""

    def start(self, gang: Gang) -> str:
        """Start it and return the native handle. Repeating with the same allocation id starts nothing twice.
        Raises EnvironmentFailed, or Unavailable when it should be tried again."""

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]:
        """What is known of each; asked many times a second, so an engine that is slow to ask answers from memory
        (`runners.polled`). Those of which nothing is known now are left out; lost is what surely is not there."""

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


@runtime_checkable
class Sweeps(Protocol):
    """A power some runners have: removing what runs of earlier masters left behind."""

    def sweep(self, live: Collection[str]) -> int:
        """Forget runs that have ended and are not among the handles `live`. Returns how many."""


@runtime_checkable
class Watches(Protocol):
    """A power some runners have: telling that something changed, so that nobody has to keep asking."""

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call it, from any thread, after a gang started, ended or moved. It may be called too often."""
