"""Messages about dataset versions, their files and labelled images, and lineage. Pure."""

from typing import Literal

from pydantic import Field

from resolute.spec.wire.base import Int64, JsonObject, Request, Time, Wire
from resolute.spec.wire.paging import Pagination


class DatasetClass(Wire):
    id: int
    name: str


class Dataset(Wire):
    """One version. `reference` is `name:version`, as configurations name it."""

    id: int
    name: str
    version: int
    reference: str
    content_hash: str
    uri: str
    annotations: list[str] = []
    images: list[str] = []
    file_count: Int64 = 0
    size: Int64 = 0
    description: str = ""
    classes: list[DatasetClass] = []
    parents: list[str] = []
    statistics: JsonObject = {}
    user_id: int = 0
    username: str = ""
    workspace_id: int = 1
    created_at: Time


class GetDatasetsResponse(Wire):
    datasets: list[Dataset] = []
    pagination: Pagination = Pagination()


class GetDatasetVersionsResponse(Wire):
    name: str
    versions: list[Dataset] = []


class DatasetResponse(Wire):
    dataset: Dataset
    experiment_ids: list[int] = []
    """Those that used it, newest first."""
    children: list[str] = []
    """Versions that were made from it."""


class PostDatasetRequest(Request):
    name: str = ""
    uri: str = ""
    manifest: str = ""
    """base64 of the gzip of one JSON object a line: {"path", "size", "sha256"}."""
    annotations: list[str] = []
    images: list[str] = []
    classes: list[DatasetClass] = []
    parents: list[str] = []
    statistics: JsonObject = {}
    description: str = ""
    workspace_id: int = 1


class PostDatasetResponse(Wire):
    dataset: Dataset
    is_new: bool
    """False: this content was registered under this name before."""


class PatchDataset(Request):
    description: str | None = None


class DatasetFile(Wire):
    path: str
    size: Int64
    sha256: str


class GetDatasetFilesResponse(Wire):
    files: list[DatasetFile] = []
    pagination: Pagination = Pagination()


class LabelledBox(Wire):
    id: int
    bbox: list[float]
    """x, y, width, height in pixels."""
    category_id: int
    area: float = 0
    iscrowd: int = 0


class LabelledImage(Wire):
    id: int
    file_name: str
    path: str
    """In the dataset: what the content is asked for by."""
    width: int
    height: int
    boxes: list[LabelledBox] = []


class GetDatasetImagesResponse(Wire):
    images: list[LabelledImage] = []
    pagination: Pagination = Pagination()


class LinkDatasetRequest(Request):
    dataset: str = ""


class GetExperimentDatasetsResponse(Wire):
    datasets: list[Dataset] = []


LineageKind = Literal["dataset", "experiment", "trial", "checkpoint", "model_version", "deployment"]


class LineageNode(Wire):
    """`id` is what the same thing is asked for by; `details` are facts for people, by kind."""

    key: str
    """`<kind>:<id>`, what edges name."""
    kind: LineageKind
    id: str
    name: str
    state: str = ""
    time: Time | None = None
    details: JsonObject = {}


class LineageEdge(Wire):
    """From what was there before to what was made of it."""

    from_: str = Field(alias="from")
    to: str


class LineageResponse(Wire):
    nodes: list[LineageNode] = []
    edges: list[LineageEdge] = []
    is_truncated: bool = False
    """There is more; look from a node nearer to it."""
