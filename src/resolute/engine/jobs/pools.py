"""The resource pools that the runner declares: what a configuration may name, and what it gets when it names none."""

from resolute.domain.errors import InvalidInput
from resolute.domain.node import Pool
from resolute.domain.pool import most_slots, pool_named, unknown_pool
from resolute.engine.platform import Platform
from resolute.spec.experiment import ClusterDefaults


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
