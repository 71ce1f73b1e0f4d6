"""A registered model: a name that people use, with numbered versions that each are one checkpoint. Pure."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum


class Stage(StrEnum):
    """How far a version has come. At most one version of a model is in production."""

    NONE = "NONE"
    STAGING = "STAGING"
    PRODUCTION = "PRODUCTION"
    RETIRED = "RETIRED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    id: int
    name: str
    user_id: int
    workspace_id: int
    creation_time: datetime
    last_updated_time: datetime
    description: str = ""
    notes: str = ""
    labels: tuple[str, ...] = ()
    metadata: dict[str, object] = field(default_factory=dict)
    archived: bool = False
    last_version: int = 0
    """The highest number ever given: numbers of deleted versions are not used again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVersion:
    id: int
    model_id: int
    version: int
    """1, 2, 3 ... within the model."""
    checkpoint_uuid: str
    user_id: int
    creation_time: datetime
    last_updated_time: datetime
    name: str = ""
    comment: str = ""
    notes: str = ""
    labels: tuple[str, ...] = ()
    metadata: dict[str, object] = field(default_factory=dict)
    stage: Stage = Stage.NONE

    def moved_to(self, stage: Stage, *, now: datetime) -> "ModelVersion":
        """Any stage may follow any other: people decide."""
        return replace(self, stage=stage, last_updated_time=now)
