"""Messages about the master itself, its nodes, slots and pools. Pure."""

from resolute.domain.job import DEFAULT_PRIORITY
from resolute.spec.wire.base import JsonObject, Request, Time, Wire
from resolute.spec.wire.enums import (
    ContainerState,
    DeviceType,
    FittingPolicy,
    LogLevel,
    Product,
    ResourcePoolType,
    SchedulerType,
)
from resolute.spec.wire.paging import Pagination

API_VERSION = "0.38.1"
"""The dialect of the API; clients compare it with their own version."""


class Info(Wire):
    """`GET /info`, the one message that is snake_case on the wire."""

    model_config = {"alias_generator": None}

    version: str
    cluster_id: str
    master_id: str
    cluster_name: str = ""
    resolute_version: str = ""


class Health(Wire):
    status: str = "up"
    database: str = "up"
    message: str = ""


class SSOProvider(Wire):
    name: str = ""
    sso_url: str = ""


class ClusterMessage(Wire):
    message: str = ""
    start_time: Time | None = None
    end_time: Time | None = None
    created_time: Time | None = None


class GetClusterMessageResponse(Wire):
    cluster_message: ClusterMessage | None = None


class SetClusterMessageRequest(Request):
    message: str = ""
    start_time: Time | None = None
    end_time: Time | None = None
    duration: str = ""


class GetMasterResponse(Wire):
    version: str
    cluster_id: str
    cluster_name: str = ""
    master_id: str
    telemetry_enabled: bool = False
    sso_providers: list[SSOProvider] = []
    external_login_uri: str = ""
    external_logout_uri: str = ""
    branding: str = "resolute"
    rbac_enabled: bool = False
    product: Product = Product.UNSPECIFIED
    feature_switches: list[str] = []
    user_management_enabled: bool = True
    strict_job_queue_control: bool = False
    has_custom_logo: bool = False
    cluster_message: ClusterMessage | None = None


class GetTelemetryResponse(Wire):
    enabled: bool = False
    segment_key: str = ""


class GetMasterConfigResponse(Wire):
    config: JsonObject


class LogConfig(Request):
    level: LogLevel | None = None
    color: bool | None = None


class MasterConfigChanges(Request):
    log: LogConfig = LogConfig()


class FieldMask(Request):
    paths: list[str] = []


class PatchMasterConfigRequest(Request):
    config: MasterConfigChanges = MasterConfigChanges()
    field_mask: FieldMask | None = None


class LogEntry(Wire):
    id: int
    message: str
    timestamp: Time
    level: LogLevel = LogLevel.INFO


class MasterLogsResponse(Wire):
    log_entry: LogEntry


class Device(Wire):
    id: int = 0
    brand: str = ""
    uuid: str = ""
    type: DeviceType = DeviceType.UNSPECIFIED


class Container(Wire):
    id: str
    parent: str = ""
    state: ContainerState = ContainerState.RUNNING
    devices: list[Device] = []
    permission_denied: bool = False


class Slot(Wire):
    id: str = ""
    device: Device = Device()
    enabled: bool = True
    draining: bool = False
    container: Container | None = None


class DeviceStats(Wire):
    total: int = 0
    disabled: int = 0
    draining: int = 0
    states: dict[str, int] = {}


class SlotStats(Wire):
    type_stats: dict[str, DeviceStats] = {}
    brand_stats: dict[str, DeviceStats] = {}


class Agent(Wire):
    id: str
    registered_time: Time | None = None
    slots: dict[str, Slot] = {}
    containers: dict[str, Container] = {}
    addresses: list[str] = []
    enabled: bool = True
    draining: bool = False
    version: str = ""
    resource_pools: list[str] = []
    slot_stats: SlotStats = SlotStats()


class GetAgentsResponse(Wire):
    agents: list[Agent] = []
    pagination: Pagination = Pagination()


class AgentResponse(Wire):
    agent: Agent


class DisableRequest(Request):
    drain: bool = False


class SlotResponse(Wire):
    slot: Slot


class GetSlotsResponse(Wire):
    slots: list[Slot] = []


class QueueStats(Wire):
    queued_count: int = 0
    scheduled_count: int = 0


class PrioritySchedulerDetail(Wire):
    preemption: bool = True
    default_priority: int = DEFAULT_PRIORITY
    k8s_priorities: list[JsonObject] = []


class ResourcePoolDetail(Wire):
    aws: JsonObject | None = None
    gcp: JsonObject | None = None
    priority_scheduler: PrioritySchedulerDetail | None = None


class ResourcePool(Wire):
    name: str
    description: str = ""
    type: ResourcePoolType = ResourcePoolType.STATIC
    num_agents: int = 0
    slots_available: int = 0
    slots_used: int = 0
    slot_type: DeviceType = DeviceType.CPU
    slots_per_agent: int = 0
    aux_container_capacity: int = 0
    aux_containers_running: int = 0
    aux_container_capacity_per_agent: int = 0
    default_compute_pool: bool = False
    default_aux_pool: bool = False
    preemptible: bool = False
    min_agents: int = 0
    max_agents: int = 0
    scheduler_type: SchedulerType = SchedulerType.PRIORITY
    scheduler_fitting_policy: FittingPolicy = FittingPolicy.BEST
    location: str = ""
    image_id: str = ""
    instance_type: str = ""
    master_url: str = ""
    master_cert_name: str = ""
    startup_script: str = ""
    container_startup_script: str = ""
    agent_docker_network: str = ""
    agent_docker_runtime: str = ""
    agent_docker_image: str = ""
    agent_fluent_image: str = ""
    max_idle_agent_period: float = 0.0
    max_agent_starting_period: float = 0.0
    details: ResourcePoolDetail = ResourcePoolDetail()
    accelerator: str = ""
    cluster_name: str = ""
    resource_manager_metadata: dict[str, str] = {}
    stats: QueueStats = QueueStats()


class GetResourcePoolsResponse(Wire):
    resource_pools: list[ResourcePool] = []
    pagination: Pagination = Pagination()


class ListWorkspacesBoundToRPResponse(Wire):
    workspace_ids: list[int] = []
    pagination: Pagination = Pagination()
