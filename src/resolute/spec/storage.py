"""Where checkpoints go and which are kept: what a user may write under `checkpoint_storage`. Opens nothing."""

from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Discriminator, Tag, TypeAdapter, ValidationError, field_validator, model_validator

from resolute.domain.errors import InvalidConfig
from resolute.domain.retention import RetentionPolicy
from resolute.spec.problem import Hints, dotted, problems_of
from resolute.spec.section import Count, Section, Text, fault

GONE: dict[str, str] = {"hdfs": "shared_fs with the file system mounted on every node, or s3, gcs or azure"}
TYPES = ("shared_fs", "directory", "s3", "gcs", "azure")
COMMON = frozenset({"save_experiment_best", "save_trial_best", "save_trial_latest"})
"""Keys of every type: they survive a change of type when a template is merged."""
_KEPT = RetentionPolicy()
"""What is kept when nothing is said."""


class _Storage(Section):
    type: str
    save_experiment_best: Count = _KEPT.save_experiment_best
    save_trial_best: Count = _KEPT.save_trial_best
    save_trial_latest: Count = _KEPT.save_trial_latest


class SharedFs(_Storage):
    type: Literal["shared_fs"]
    host_path: Text
    storage_path: Text | None = None
    propagation: Text = "rprivate"
    container_path: Text | None = None
    checkpoint_path: Text | None = None
    tensorboard_path: Text | None = None

    @field_validator("host_path")
    @classmethod
    def _is_absolute(cls, path: str) -> str:
        if not path.startswith("/"):
            raise fault(f'"{path}" is not an absolute path; start it with /')
        return path

    @model_validator(mode="after")
    def _stays_below_host_path(self) -> "SharedFs":
        if self.storage_path is None:
            return self
        host, inside = _folders(self.host_path), _folders(self.storage_path)
        target = inside if self.storage_path.startswith("/") else host + inside
        if ".." in target or target[: len(host)] != host:
            raise fault(
                f'"{self.storage_path}" leaves host_path "{self.host_path}"; give a folder inside it', "storage_path"
            )
        return self


class Directory(_Storage):
    type: Literal["directory"]
    container_path: Text

    @field_validator("container_path")
    @classmethod
    def _is_absolute(cls, path: str) -> str:
        return SharedFs._is_absolute(path)


class _Bucket(_Storage):
    bucket: Text
    prefix: str | None = None

    @field_validator("prefix")
    @classmethod
    def _stays_in_the_bucket(cls, prefix: str | None) -> str | None:
        if prefix is not None and ".." in _folders(prefix):
            raise fault(f'"{prefix}" has .. in it; give a plain prefix such as team/checkpoints')
        return prefix


class S3(_Bucket):
    type: Literal["s3"]
    access_key: str | None = None
    secret_key: str | None = None
    endpoint_url: Text | None = None

    @model_validator(mode="after")
    def _keys_come_in_pairs(self) -> "S3":
        if (self.access_key is None) != (self.secret_key is None):
            missing = "secret_key" if self.secret_key is None else "access_key"
            raise fault("needs both access_key and secret_key, or neither to use the machine's own", missing)
        return self


class Gcs(_Bucket):
    type: Literal["gcs"]


class Azure(_Storage):
    type: Literal["azure"]
    container: Text
    connection_string: str | None = None
    account_url: str | None = None
    credential: str | None = None

    @model_validator(mode="after")
    def _one_address(self) -> "Azure":
        if (self.connection_string is None) == (self.account_url is None):
            raise fault("needs exactly one of connection_string and account_url", "account_url")
        if self.connection_string is not None and self.credential is not None:
            raise fault(
                "goes with account_url; connection_string has its own key, so drop one of the two", "credential"
            )
        return self


def _type(value: object) -> object:
    return value.get("type") if isinstance(value, dict) else getattr(value, "type", None)


CheckpointStorage: TypeAlias = Annotated[
    Annotated[SharedFs, Tag("shared_fs")]
    | Annotated[Directory, Tag("directory")]
    | Annotated[S3, Tag("s3")]
    | Annotated[Gcs, Tag("gcs")]
    | Annotated[Azure, Tag("azure")],
    Discriminator(_type),
]


_STORAGE: TypeAdapter[_Storage] = TypeAdapter(CheckpointStorage, config=ConfigDict(defer_build=True))


def check_storage(storage: dict[str, object]) -> None:
    """Raises InvalidConfig with every fault."""
    try:
        _STORAGE.validate_python(storage)
    except ValidationError as error:
        hints = Hints(elsewhere={}, replaced=GONE, choices={"type": TYPES})
        faults = problems_of(error, storage, models={}, hints=hints)
        raise InvalidConfig([f"{dotted(fault.path) or 'storage'}: {fault.message}" for fault in faults]) from error


def _folders(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]
