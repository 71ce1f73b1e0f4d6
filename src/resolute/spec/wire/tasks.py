"""Messages about tasks, allocations and logs, and those a running task sends. Pure."""

from pydantic import Field

from resolute.domain.gang import Phase
from resolute.spec.wire.base import Int64, JsonObject, Request, Time, Wire
from resolute.spec.wire.cluster import Device
from resolute.spec.wire.enums import FailureType, GenericTaskState, LogLevel, TaskState, TaskType


class AllocationNode(Wire):
    """One node of an allocation, as far as its supervisor or its runner told. Ours: other clients pass it over."""

    rank: int
    node_id: str = ""
    address: str = ""
    slot_ids: list[int] = []
    phase: Phase
    phase_since: Time | None = None
    exit_code: int | None = None
    reason: str = ""


class Allocation(Wire):
    task_id: str
    allocation_id: str
    state: TaskState
    is_ready: bool = False
    start_time: Time | None = None
    end_time: Time | None = None
    slots: int = 0
    exit_reason: str | None = None
    status_code: int | None = None
    nodes: list[AllocationNode] = []
    waiting_reason: str = ""
    """Why it waits, in one sentence."""


class Task(Wire):
    task_id: str
    task_type: TaskType
    allocations: list[Allocation] = []
    start_time: Time
    end_time: Time | None = None
    config: str | None = None
    parent_id: str | None = None
    forked_from: str | None = None
    no_pause: bool | None = None
    task_state: GenericTaskState | None = None
    """Of a generic task."""


class GetTaskResponse(Wire):
    task: Task


class GetAllocationResponse(Wire):
    allocation: Allocation


class ResourcesSummaryDevices(Wire):
    devices: list[Device] = []


class Address(Wire):
    """A port under which a node is reached; 0: none was chosen."""

    container_ip: str = ""
    container_port: int = 0
    host_ip: str = ""
    host_port: int = 0


class ResourcesStarted(Wire):
    addresses: list[Address] = []
    native_resources_id: str = ""


class ResourcesFailure(Wire):
    failure_type: FailureType = FailureType.UNSPECIFIED
    err_msg: str = ""
    exit_code: int | None = None


class ResourcesStopped(Wire):
    failure: ResourcesFailure | None = None


class ResourcesSummary(Wire):
    resources_id: str = ""
    resources_type: str = ""
    allocation_id: str = ""
    container_id: str | None = None
    agent_devices: dict[str, ResourcesSummaryDevices] = {}
    started: ResourcesStarted | None = None
    exited: ResourcesStopped | None = None


class ProxyPortConfig(Wire):
    service_id: str = ""
    port: int = 0
    proxy_tcp: bool = False
    unauthenticated: bool = False


class AllocationSummary(Wire):
    task_id: str = ""
    allocation_id: str = ""
    name: str = ""
    registered_time: Time | None = None
    resource_pool: str = ""
    slots_needed: int = 0
    resources: list[ResourcesSummary] = []
    scheduler_type: str = ""
    priority: int | None = None
    waiting_reason: str = ""
    proxy_ports: list[ProxyPortConfig] = []


class GetTasksResponse(Wire):
    allocation_id_to_summary: dict[str, AllocationSummary] = {}


class GetActiveTasksCountResponse(Wire):
    commands: int = 0
    notebooks: int = 0
    shells: int = 0
    tensorboards: int = 0


class RendezvousInfo(Wire):
    addresses: list[str] = []
    rank: int = 0
    slots: list[int] = []


class AllocationRendezvousInfoResponse(Wire):
    rendezvous_info: RendezvousInfo


class JoinRendezvousRequest(Request):
    """A node of an allocation says how the others reach it."""

    node_id: str = ""
    address: str
    slot_ids: list[int] = []
    ports: list[int] = []
    nodes: int = 1


class JoinRendezvousResponse(Wire):
    is_complete: bool = False
    rendezvous_info: RendezvousInfo | None = None
    ports: list[int] = []


class ReportPhaseRequest(Request):
    """How far a node of an allocation has come."""

    phase: Phase
    exit_code: int | None = Field(default=None, ge=-(2**31), lt=2**31)
    reason: str = ""


class AllocationAllGatherRequest(Request):
    allocation_id: str = ""
    request_uuid: str = ""
    num_peers: int = 1
    data: JsonObject = {}


class AllocationAllGatherResponse(Wire):
    data: list[JsonObject] = []


class AllocationPreemptionSignalResponse(Wire):
    preempt: bool = False


class PostAllocationProxyAddressRequest(Request):
    allocation_id: str = ""
    proxy_address: str = ""


class AcceleratorData(Request):
    container_id: str = ""
    allocation_id: str = ""
    node_name: str = ""
    task_id: str = ""
    accelerator_type: str = ""
    accelerator_uuids: list[str] = []
    resource_pool: str = ""


class PostAllocationAcceleratorDataRequest(Request):
    allocation_id: str = ""
    accelerator_data: AcceleratorData = AcceleratorData()


class GetTaskAcceleratorDataResponse(Wire):
    accelerator_data: list[AcceleratorData] = []


class TrialLogsResponse(Wire):
    id: str
    timestamp: Time
    message: str
    level: LogLevel
    trial_id: int
    agent_id: str | None = None
    container_id: str | None = None
    rank_id: int | None = None
    log: str = ""
    source: str | None = None
    stdtype: str | None = None


class TaskLogsResponse(Wire):
    id: str
    timestamp: Time
    message: str
    level: LogLevel
    task_id: str
    allocation_id: str | None = None
    agent_id: str | None = None
    container_id: str | None = None
    rank_id: int | None = None
    log: str = ""
    source: str | None = None
    stdtype: str | None = None


class LogFieldsResponse(Wire):
    """What the lines of a log can be filtered by."""

    agent_ids: list[str] = []
    allocation_ids: list[str] = []
    container_ids: list[str] = []
    rank_ids: list[int] = []
    sources: list[str] = []
    stdtypes: list[str] = []


class PostedLog(Request):
    """A line that a log shipper sends."""

    task_id: str = ""
    timestamp: Time | None = None
    log: str = ""
    level: LogLevel = LogLevel.UNSPECIFIED
    stdtype: str = ""
    rank_id: int | None = None
    rank: int | None = None
    source: str = ""


class PostTaskLogsRequest(Request):
    logs: list[PostedLog] = []


class CleanupLogsResponse(Wire):
    removed_count: Int64 = 0
