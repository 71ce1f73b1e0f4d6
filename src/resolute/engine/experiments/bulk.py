"""One deed on many experiments: what fails, or is not allowed, is told beside its id and stops nobody else."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from resolute.domain.errors import ResoluteError
from resolute.domain.rights import Permission, Rights
from resolute.engine.access.rights import require
from resolute.engine.platform import Platform
from resolute.engine.ports.queries import ExperimentQuery

Deed = Callable[[Platform, int], object]


@dataclass(frozen=True, slots=True)
class Done:
    experiment_id: int
    error: str = ""
    """Why not; empty: it was done."""


def experiments_meant(platform: Platform, query: ExperimentQuery, *, excluded: Iterable[int] = ()) -> list[int]:
    """Ids of those that a filter names, without the ones that were taken out by hand."""
    with platform.store.read() as tx:
        found = [summary.experiment.id for summary in tx.experiments.search(query).items]
    left_out = set(excluded)
    return [each for each in found if each not in left_out]


def do_for_each(
    platform: Platform, experiment_ids: Iterable[int], deed: Deed, *, rights: Rights, permission: Permission
) -> list[Done]:
    """Each once, in the order given, in a transaction of its own."""
    return [_do(platform, each, deed, rights, permission) for each in dict.fromkeys(experiment_ids)]


def _do(platform: Platform, experiment_id: int, deed: Deed, rights: Rights, permission: Permission) -> Done:
    try:
        with platform.store.read() as tx:
            require(tx, rights, permission, "experiment_id", experiment_id)
        deed(platform, experiment_id)
    except ResoluteError as error:
        return Done(experiment_id, str(error))
    return Done(experiment_id)
