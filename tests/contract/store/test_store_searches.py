"""The state of a search in `engine.ports.database.Experiments`, on every database."""

from collections.abc import Callable

import pytest

from resolute.domain.errors import ResoluteError
from resolute.domain.experiment import Experiment
from resolute.engine.ports.database import Store
from resolute.engine.ports.queries import SearcherHead

NewExperiment = Callable[..., Experiment]


@pytest.fixture
def experiment_id(store: Store, new_experiment: NewExperiment) -> int:
    with store.write() as transaction:
        return transaction.experiments.add(new_experiment(), searcher_snapshot={"trials": [], "dice": "a"}).id


def test_a_search_is_its_snapshot_with_the_patches_since(store: Store, experiment_id: int) -> None:
    with store.write() as transaction:
        experiments = transaction.experiments
        experiments.add_searcher_patch(experiment_id, {"in": {"dice": {"set": "b"}}}, number=1, stamp="one")
        grown = {"in": {"trials": {"at": 0, "cut": 0, "put": [float("inf")]}}}
        experiments.add_searcher_patch(experiment_id, grown, number=2, stamp="two")

    with store.read() as transaction:
        assert transaction.experiments.searcher_snapshot(experiment_id) == {"trials": [float("inf")], "dice": "b"}
        assert transaction.experiments.searcher_head(experiment_id) == SearcherHead("two", 2)


def test_a_whole_snapshot_takes_the_place_of_all_patches(store: Store, experiment_id: int) -> None:
    with store.write() as transaction:
        transaction.experiments.add_searcher_patch(experiment_id, {"set": {}}, number=1, stamp="one")
        transaction.experiments.save_searcher_snapshot(experiment_id, {"dice": "c"}, stamp="two")

    with store.read() as transaction:
        assert transaction.experiments.searcher_snapshot(experiment_id) == {"dice": "c"}
        assert transaction.experiments.searcher_head(experiment_id) == SearcherHead("two", 0)


def test_a_snapshot_without_a_stamp_has_an_empty_one(store: Store, experiment_id: int) -> None:
    with store.read() as transaction:
        assert transaction.experiments.searcher_head(experiment_id) == SearcherHead("", 0)
        assert transaction.experiments.searcher_head(99) is None


def test_a_second_patch_with_the_same_number_is_refused(store: Store, experiment_id: int) -> None:
    with store.write() as transaction:
        transaction.experiments.add_searcher_patch(experiment_id, {"set": {}}, number=1, stamp="one")

    with pytest.raises(ResoluteError), store.write() as transaction:
        transaction.experiments.add_searcher_patch(experiment_id, {"set": {"x": 1}}, number=1, stamp="other")


def test_a_transaction_that_fails_leaves_no_patch(store: Store, experiment_id: int) -> None:
    def fail() -> None:
        with store.write() as transaction:
            transaction.experiments.add_searcher_patch(experiment_id, {"set": {}}, number=1, stamp="one")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    with store.read() as transaction:
        assert transaction.experiments.searcher_head(experiment_id) == SearcherHead("", 0)


def test_patches_go_with_their_experiment(store: Store, experiment_id: int) -> None:
    with store.write() as transaction:
        transaction.experiments.add_searcher_patch(experiment_id, {"set": {}}, number=1, stamp="one")
        transaction.experiments.remove(experiment_id)

    with store.read() as transaction:
        assert transaction.experiments.searcher_head(experiment_id) is None
        assert transaction.experiments.searcher_snapshot(experiment_id) is None
