"""What came from what, as a graph."""

from resolute.domain import needs
from resolute.engine.registry.lineage import Kind, lineage
from resolute.server.auth import Caller, PlatformOf
from resolute.server.resource import Resource
from resolute.server.shapes.datasets import lineage_message
from resolute.spec.wire import datasets as wire

router = Resource(tags=["lineage"])


@router.get("/api/v1/lineage", needs=needs.VIEW_EXPERIMENT.listed)
def get_lineage(kind: wire.LineageKind, id: str, platform: PlatformOf, caller: Caller) -> wire.LineageResponse:
    """Back to the data that something came from and forward to where it is served. `id` is a dataset as
    `name:version`, a model version as `name/version`, a deployment as `name` or `name/revision`, a checkpoint's uuid,
    or the number of an experiment or a trial. It ends at what the caller may not see."""
    with platform.store.read() as tx:
        return lineage_message(lineage(tx, Kind(kind), id, rights=caller.rights))
