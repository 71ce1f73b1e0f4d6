"""A dataset version: what exactly was trained on, by content. Pure.

The files stay where they are; the record holds their digests, the class table and where the version came from.
"""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class DatasetClass:
    """One row of the class table, as it travels to the served model."""

    id: int
    """The category id in the label file."""
    name: str


@dataclass(frozen=True, slots=True)
class DatasetFile:
    path: str
    """Relative to the dataset's uri, with `/`."""
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetVersion:
    id: int
    name: str
    version: int
    """1, 2, 3 ... within the name."""
    content_hash: str
    """sha256 over the sorted manifest: equal content is the same version."""
    uri: str
    """Where the files are: a folder, or s3://, gs://, az:// and a prefix."""
    annotations: tuple[str, ...]
    """Paths of the COCO label files, relative to `uri`; images are found beside them by `images`."""
    images: tuple[str, ...]
    """The image folder of each label file, relative to `uri`."""
    manifest_id: str
    """Content id of the manifest (JSON lines of DatasetFile, gzip), kept with the uploaded contexts."""
    file_count: int
    size: int
    user_id: int
    workspace_id: int
    created_at: datetime
    description: str = ""
    classes: tuple[DatasetClass, ...] = ()
    parents: tuple[int, ...] = ()
    """Ids of the versions that it was made from."""
    statistics: dict[str, object] = field(default_factory=dict)

    @property
    def reference(self) -> str:
        """`name:version`, the way that a config or a command names it."""
        return f"{self.name}:{self.version}"
