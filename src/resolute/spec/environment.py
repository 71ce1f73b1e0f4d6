"""What a trial or task runs in: `environment` and `bind_mounts`. Builds and mounts nothing.

`python` and `requirements` are our own: the environment of a trial where there are no containers.
"""

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from resolute.spec.section import AsList, AsPlain, PlainOrList, Section, Text, fault

DEVICES = ("cpu", "cuda", "rocm")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Images(Section):
    cpu: Text | None = None
    cuda: Text | None = None
    rocm: Text | None = None


class Variables(Section):
    """`NAME=value`, or `NAME` alone for an empty one, by the device type that a trial gets."""

    cpu: list[str] = Field(default_factory=list)
    cuda: list[str] = Field(default_factory=list)
    rocm: list[str] = Field(default_factory=list)

    @field_validator("cpu", "cuda", "rocm")
    @classmethod
    def _have_names(cls, variables: list[str]) -> list[str]:
        for index, variable in enumerate(variables):
            if not _NAME.fullmatch(variable.partition("=")[0]):
                raise fault(f'"{variable}" is not NAME=value; a name has letters, digits and _ only', index)
        return variables


class ProxyPort(Section):
    proxy_port: Annotated[int, Field(ge=1, le=65535)]
    proxy_tcp: bool = False
    unauthenticated: bool = False
    default_service_id: bool = False


class RegistryAuth(Section):
    username: str | None = None
    password: str | None = None
    auth: str | None = None
    email: str | None = None
    serveraddress: str | None = None
    identitytoken: str | None = None
    registrytoken: str | None = None


def _for_every_device(value: object) -> object:
    """One value stands for all device types; `gpu` is the old word for `cuda`."""
    if isinstance(value, str | list):
        return dict.fromkeys(DEVICES, value)
    if isinstance(value, dict) and "gpu" in value and "cuda" not in value:
        return {("cuda" if key == "gpu" else key): each for key, each in value.items()}
    return value


def _variables(value: object) -> object:
    if isinstance(value, dict) and value and not set(value) & {*DEVICES, "gpu"}:
        name, content = next(iter(value.items()))
        raise fault(f"is a list, not a map; write `- {name}={content}`")
    return _for_every_device(value)


class Environment(Section):
    image: Annotated[Images, BeforeValidator(_for_every_device)] | None = None
    environment_variables: Annotated[Variables, BeforeValidator(_variables)] = Field(default_factory=Variables)
    ports: dict[str, Annotated[int, Field(ge=1, le=65535)]] = Field(default_factory=dict)
    proxy_ports: list[ProxyPort] = Field(default_factory=list)
    force_pull_image: bool = False
    registry_auth: RegistryAuth | None = None
    add_capabilities: list[str] = Field(default_factory=list)
    drop_capabilities: list[str] = Field(default_factory=list)
    pod_spec: dict[str, object] | None = None
    python: Text | None = None
    """Interpreter or virtual environment to run in."""
    requirements: Annotated[Annotated[Text, AsPlain] | Annotated[list[Text], AsList], PlainOrList] | None = None
    """A requirements file inside the context, or the requirements themselves; built once per content."""

    @field_validator("pod_spec")
    @classmethod
    def _leaves_our_container(cls, pod_spec: dict[str, object] | None) -> dict[str, object] | None:
        _check_own_container(pod_spec)
        return pod_spec

    @model_validator(mode="after")
    def _one_environment(self) -> "Environment":
        if self.python is not None and self.requirements is not None:
            raise fault("python and requirements both choose the environment; keep one", "requirements")
        return self


OWN_CONTAINER = "determined-container"
"""The container of a pod that runs the trial, by its name in pod specs."""
_OPEN_IN_OWN_CONTAINER = frozenset({"name", "resources", "volumeMounts", "volumeDevices"})


def _check_own_container(pod_spec: dict[str, object] | None) -> None:
    """Image, command and environment of the trial's own container are not the pod spec's to say."""
    spec = pod_spec.get("spec") if pod_spec else None
    containers = spec.get("containers") if isinstance(spec, dict) else None
    for index, container in enumerate(containers if isinstance(containers, list) else ()):
        if not isinstance(container, dict) or container.get("name") != OWN_CONTAINER:
            continue
        for key in sorted(set(container) - _OPEN_IN_OWN_CONTAINER - {"volume_mounts", "volume_devices"}):
            raise fault(
                f"is not configurable for {OWN_CONTAINER}, which the platform sets up; use the keys of environment",
                "spec",
                "containers",
                index,
                key,
            )


class BindMount(Section):
    host_path: Text
    container_path: Text
    read_only: bool = False
    propagation: Literal["private", "rprivate", "shared", "rshared", "slave", "rslave"] = "rprivate"

    @field_validator("host_path")
    @classmethod
    def _is_absolute(cls, path: str) -> str:
        if not path.startswith("/"):
            raise fault(f'"{path}" is not an absolute path; start it with /')
        return path

    @field_validator("container_path")
    @classmethod
    def _is_a_place(cls, path: str) -> str:
        if path == ".":
            raise fault('"." would hide the working directory; name a folder in it')
        return path


class Device(Section):
    host_path: Text
    container_path: Text
    mode: Text = "mrw"


def device_of(value: object) -> object:
    """Docker's short form, `/dev/host:/dev/inside:mrw`, as a map."""
    if not isinstance(value, str):
        return value
    parts = value.split(":")
    if not 2 <= len(parts) <= 3:
        raise fault(f'"{value}" is not host_path:container_path or host_path:container_path:mode')
    return dict(zip(("host_path", "container_path", "mode"), parts, strict=False))


class Slurm(Section):
    slots_per_node: Annotated[int, Field(ge=1)] | None = None
    gpu_type: Text | None = None
    sbatch_args: list[str] = Field(default_factory=list)


class Pbs(Section):
    slots_per_node: Annotated[int, Field(ge=1)] | None = None
    pbsbatch_args: list[str] = Field(default_factory=list)


BindMounts = list[BindMount]
