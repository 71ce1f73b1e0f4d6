"""`engine.ports.database.GangNodes` on every database."""

from collections.abc import Callable
from dataclasses import replace

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.experiment import Experiment
from resolute.domain.gang import GangNode, Phase
from resolute.domain.trial import Trial
from resolute.engine.ports.database import Store

from .conftest import NOON

NODE = GangNode(
    allocation_id="1.a.1",
    rank=1,
    node_id="gpu-7",
    address="10.0.0.7",
    slot_ids=(0, 3),
    ports=(9000, 65535),
    phase=Phase.ENDED,
    phase_since=NOON,
    exit_code=137,
    reason="killed by ünïcode\nwith lines",
    log_sequence=2**40,
    log_start=2**41,
)


def save(store: Store, *nodes: GangNode) -> None:
    with store.write() as tx:
        for node in nodes:
            tx.gang_nodes.save(node)


def test_a_node_comes_back_with_every_field(store: Store) -> None:
    bare = GangNode(allocation_id="1.a.1", rank=0)

    save(store, NODE, bare)

    with store.read() as tx:
        assert tx.gang_nodes.of_allocation("1.a.1") == [bare, NODE]


def test_saving_a_rank_again_replaces_it_and_no_other(store: Store) -> None:
    other = replace(NODE, rank=2)
    save(store, NODE, other)

    save(store, replace(NODE, address="10.0.0.8", exit_code=None))

    with store.read() as tx:
        assert tx.gang_nodes.of_allocation("1.a.1") == [replace(NODE, address="10.0.0.8", exit_code=None), other]


def test_ranks_stand_in_the_order_of_numbers(store: Store) -> None:
    save(store, *(replace(NODE, rank=rank) for rank in (10, 9, 100)))

    with store.read() as tx:
        assert [node.rank for node in tx.gang_nodes.of_allocation("1.a.1")] == [9, 10, 100]


def test_those_of_several_allocations_are_kept_apart(store: Store) -> None:
    save(store, NODE, replace(NODE, allocation_id="1.a.10"))

    with store.read() as tx:
        found = tx.gang_nodes.of_allocations(["1.a.1", "1.a.10", "unheard-of"])
    assert found == {"1.a.1": [NODE], "1.a.10": [replace(NODE, allocation_id="1.a.10")], "unheard-of": []}


def test_they_go_with_the_experiment_of_their_allocation(
    store: Store, new_experiment: Callable[..., Experiment], new_trial: Callable[..., Trial]
) -> None:
    with store.write() as tx:
        experiment = tx.experiments.add(new_experiment(), searcher_snapshot=None)
        task_id = tx.trials.add(new_trial(experiment.id)).task_id
        tx.allocations.add(
            Allocation(
                id=f"{task_id}.1",
                task_id=task_id,
                job_id=experiment.job_id,
                state=AllocationState.TERMINATED,
                changed_at=NOON,
                created_at=NOON,
                slots_needed=4,
            )
        )
    save(store, replace(NODE, allocation_id=f"{task_id}.1"), NODE)

    with store.write() as tx:
        tx.experiments.remove(experiment.id)

    with store.read() as tx:
        assert tx.gang_nodes.of_allocations([f"{task_id}.1", "1.a.1"]) == {f"{task_id}.1": [], "1.a.1": [NODE]}
