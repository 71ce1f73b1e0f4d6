"""Everything a use-case may touch, joined once at start and passed in as one value."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from queue import SimpleQueue

from resolute.domain.agent_account import AgentAccount
from resolute.domain.capacity import Fitting
from resolute.domain.change import PLATFORM, Actor
from resolute.domain.change_retention import ChangeRetention
from resolute.domain.errors import NotSupported
from resolute.domain.placement import Scheduler
from resolute.domain.rights import RightsMode
from resolute.engine.bus import Bus
from resolute.engine.deployments.traffic import TrafficLog
from resolute.engine.jobs.visits import Visits
from resolute.engine.jobs.waiting import WaitingRoom
from resolute.engine.ports.blobs import BlobStores
from resolute.engine.ports.clock import Clock
from resolute.engine.ports.database import Store
from resolute.engine.ports.logs import Logs
from resolute.engine.ports.registry import DatasetFiles, DatasetStores
from resolute.engine.ports.runner import Runner


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterConfig:
    """What the operator decided at start."""

    home: Path
    url: str = "http://127.0.0.1:8080"
    """Where trials reach the master."""
    cert_file: str = ""
    """Certificates by which tasks know the master, when it speaks TLS. Empty: those that their system trusts."""
    cert_name: str = ""
    """The name in the master's certificate, when tasks reach it under another."""
    own_ports: frozenset[int] = frozenset()
    """On which the platform itself listens on this machine: no task is reached there."""
    is_local: bool = True
    """Whether the master listens on loopback alone. Only then does an empty password let anybody in."""
    first_run_token: str = ""
    """What opens users without a password to other accounts of this machine. Empty: nothing does."""
    rights: RightsMode = RightsMode.BASIC
    """How it is decided who may do what."""
    cluster_id: str = ""
    cluster_name: str = "resolute"
    checkpoint_storage: dict[str, object] = field(default_factory=dict)
    """Default for experiments that name none."""
    scheduler: Scheduler = "priority"
    preemption: bool = True
    fitting_policy: Fitting = "best"
    preemption_timeout_s: float = 3600.0
    run_as: AgentAccount | None = None
    """As whom the work of users runs who have no account of their own. None: as the master."""
    can_run_as_others: bool = False
    """Whether this machine's runner may start processes of other accounts: only root may."""
    change_retention: ChangeRetention = field(default_factory=ChangeRetention)


def _no_dataset_files(uri: str) -> DatasetFiles:
    raise NotSupported(f"This master does not read the files of datasets; look at {uri} itself.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    store: Store
    runner: Runner
    logs: Logs
    blobs: BlobStores
    clock: Clock
    config: MasterConfig
    actor: Actor = PLATFORM
    """Who acts through this value, for the outbox: a request has a copy of its own (`server.auth`)."""
    bus: Bus = field(default_factory=Bus)
    to_collect: SimpleQueue[int] = field(default_factory=SimpleQueue)
    """Experiments whose checkpoints the retention policy should look at."""
    traffic: TrafficLog = field(default_factory=TrafficLog)
    """What the router tells about deployments. Not kept over a restart."""
    listeners: dict[str, datetime] = field(default_factory=dict)
    """Allocation id to when its trial last asked whether it should leave. Not kept over a restart."""
    visits: Visits = field(default_factory=Visits)
    """Who uses a task through the proxy, and when somebody last did. Not kept over a restart."""
    waiting: WaitingRoom = field(default_factory=WaitingRoom)
    """Why allocations wait. Not kept over a restart."""
    read_logs: dict[str, int] = field(default_factory=dict)
    """Allocation id to the last line of its log that log policies have seen. Not kept over a restart."""
    dataset_files: DatasetStores = _no_dataset_files
