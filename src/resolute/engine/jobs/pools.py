"""The resource pools that the runner declares: what a configuration may name, and what it gets when it names none."""

from dataclasses import replace

from resolute.domain.errors import InvalidInput
from resolute.domain.node import Pool
from resolute.domain.pool import most_slots, pool_named, unknown_pool
from resolute.domain.workspace import Workspace
from resolute.engine.platform import Platform
from resolute.spec.experiment import ClusterDefaults
from resolute.spec.merge import merge_configs


def find_pool(platform: Platform, name: str, *, key: str) -> Pool:
    """`key`: where the name was written. Raises InvalidInput, with the name that was probably meant."""
    pools = platform.runner.pools()
    pool = pool_named(name, pools)
    if pool is None:
        raise InvalidInput(f"{key}: {unknown_pool(name, [each.name for each in pools])}")
    return pool


def cluster_defaults(platform: Platform) -> ClusterDefaults:
    """What a configuration is completed with, and held against."""
    pools, nodes = platform.runner.pools(), platform.runner.nodes()
    return ClusterDefaults(
        checkpoint_storage=platform.config.checkpoint_storage,
        resource_pool=pools[0].name,
        pools={pool.name: most_slots(pool, nodes) for pool in pools},
    )


def says_something(workspace: Workspace) -> bool:
    """Whether its experiments are completed with anything but the cluster's defaults."""
    return bool(workspace.checkpoint_storage or workspace.default_compute_pool or workspace.default_aux_pool)


def storage_defaults(platform: Platform, storage: dict[str, object]) -> dict[str, object]:
    """A workspace's storage over the cluster's: of another type, only what every type has is taken over."""
    cluster: dict[str, object] = {"checkpoint_storage": platform.config.checkpoint_storage}
    merged = merge_configs({"checkpoint_storage": storage}, cluster)["checkpoint_storage"]
    assert isinstance(merged, dict)
    return merged


def workspace_defaults(platform: Platform, workspace: Workspace) -> ClusterDefaults:
    """Those of the cluster under those of the workspace. A default pool that is gone is passed over."""
    cluster = cluster_defaults(platform)
    storage = storage_defaults(platform, workspace.checkpoint_storage or {})

    def usual(pool: str) -> str:
        return pool if pool in cluster.pools else cluster.resource_pool

    return replace(
        cluster,
        checkpoint_storage=storage,
        resource_pool=usual(workspace.default_compute_pool),
        aux_pool=usual(workspace.default_aux_pool) if workspace.default_aux_pool else None,
    )
