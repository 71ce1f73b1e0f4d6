"""`engine.ports.registry.Models` and `Datasets`, and what they keep from being collected, on every database."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.dataset import DatasetClass, DatasetVersion
from resolute.domain.deployment import Deployment, Revision, RevisionState, Serving
from resolute.domain.errors import AlreadyExists, InvalidInput, NotFound
from resolute.domain.model import Model, ModelVersion, Stage
from resolute.domain.trial import Trial
from resolute.domain.workspace import Workspace
from resolute.engine.ports.database import Store, Transaction
from resolute.engine.ports.registry import ModelQuery

NOON = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)


def _model(name: str, **changes: Any) -> Model:
    model = Model(id=0, name=name, user_id=1, workspace_id=1, creation_time=NOON, last_updated_time=NOON)
    return replace(model, **changes)


def _version(model_id: int, uuid: str = "u", **changes: Any) -> ModelVersion:
    version = ModelVersion(
        id=0,
        model_id=model_id,
        version=0,
        checkpoint_uuid=uuid,
        user_id=1,
        creation_time=NOON,
        last_updated_time=NOON,
    )
    return replace(version, **changes)


def _dataset(name: str, content_hash: str, **changes: Any) -> DatasetVersion:
    dataset = DatasetVersion(
        id=0,
        name=name,
        version=0,
        content_hash=content_hash,
        uri="/data/tiles",
        annotations=("train.json",),
        images=("train_images",),
        manifest_id="m",
        file_count=3,
        size=2**40,
        user_id=1,
        workspace_id=1,
        created_at=NOON,
    )
    return replace(dataset, **changes)


class TestModels:
    def test_one_comes_back_with_every_field(self, store: Store) -> None:
        model = _model(
            "ships", description="d", notes="n", labels=("a", 'with "quotes"'), metadata={"k": [1]}, archived=True
        )

        with store.write() as tx:
            added = tx.models.add(model)

        with store.read() as tx:
            assert tx.models.get(added.id) == replace(model, id=added.id)
            assert tx.models.by_name("ships") == added
            assert tx.models.by_name("Ships") is None
            with pytest.raises(NotFound, match="model not found: 99"):
                tx.models.get(99)

    def test_a_taken_name_is_refused_on_adding_and_on_renaming(self, store: Store) -> None:
        with store.write() as tx:
            tx.models.add(_model("ships"))
            planes = tx.models.add(_model("planes"))

        with store.write() as tx:
            with pytest.raises(AlreadyExists, match="'ships' exists already"):
                tx.models.add(_model("ships"))
            with pytest.raises(AlreadyExists, match="'ships' exists already"):
                tx.models.save(replace(planes, name="ships"))
            with pytest.raises(NotFound):
                tx.models.save(_model("nobody", id=99))

    def test_numbers_of_removed_versions_are_not_given_again(self, store: Store) -> None:
        with store.write() as tx:
            model = tx.models.add(_model("ships"))
            first, second = (tx.models.add_version(_version(model.id)) for _ in range(2))
            tx.models.remove_version(second.id)
            third = tx.models.add_version(_version(model.id))

        assert (first.version, second.version, third.version) == (1, 2, 3)
        with store.read() as tx:
            assert [version.version for version in tx.models.versions(model.id)] == [3, 1]
            assert tx.models.get(model.id).last_version == 3
            assert tx.models.version_counts([model.id, 99]) == {model.id: 2}

    def test_a_version_comes_back_with_every_field(self, store: Store) -> None:
        with store.write() as tx:
            model = tx.models.add(_model("ships"))
            given = _version(model.id, name="v", comment="c", notes="n", labels=("l",), metadata={"a": 1})
            added = tx.models.add_version(replace(given, stage=Stage.STAGING))
            changed = replace(added, stage=Stage.PRODUCTION, notes="other")
            tx.models.save_version(changed)

        with store.read() as tx:
            assert tx.models.version(model.id, 1) == changed == tx.models.version_by_id(added.id)
            with pytest.raises(NotFound, match="version 2 of model"):
                tx.models.version(model.id, 2)
            with pytest.raises(NotFound):
                tx.models.version_by_id(99)

    def test_versions_are_found_by_their_checkpoints(self, store: Store) -> None:
        with store.write() as tx:
            ships, planes = tx.models.add(_model("ships")), tx.models.add(_model("planes"))
            for model_id, uuid in ((ships.id, "a"), (planes.id, "a"), (planes.id, "b")):
                tx.models.add_version(_version(model_id, uuid))

        with store.read() as tx:
            found = tx.models.versions_of_checkpoints(["a", "c"])
            assert [(version.model_id, version.checkpoint_uuid) for version in found] == [
                (ships.id, "a"),
                (planes.id, "a"),
            ]
            assert tx.models.versions_of_checkpoints([]) == []

    def test_a_model_goes_with_its_versions(self, store: Store) -> None:
        with store.write() as tx:
            model = tx.models.add(_model("ships"))
            version = tx.models.add_version(_version(model.id))
            tx.models.remove(model.id)

        with store.write() as tx:
            assert tx.models.by_name("ships") is None
            with pytest.raises(NotFound):
                tx.models.version_by_id(version.id)
            with pytest.raises(NotFound, match="model not found"):
                tx.models.add_version(_version(model.id))
            with pytest.raises(NotFound):
                tx.models.save_version(version)


class TestModelSearch:
    @pytest.fixture(autouse=True)
    def three(self, store: Store) -> None:
        with store.write() as tx:
            lab = tx.workspaces.add(Workspace(id=0, name="lab", user_id=1, created_at=NOON))
            ships = tx.models.add(_model("Ships", description="on water", labels=("sea", "all")))
            tx.models.add(
                _model(
                    "planes",
                    labels=("all",),
                    user_id=2,
                    archived=True,
                    workspace_id=lab.id,
                    creation_time=NOON + timedelta(seconds=1),
                    last_updated_time=NOON - timedelta(seconds=1),
                )
            )
            tx.models.add(_model("cars_100%", description="b", creation_time=NOON + timedelta(seconds=2)))
            tx.models.add_version(_version(ships.id))

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ({}, ["Ships", "planes", "cars_100%"]),
            ({"descending": True}, ["cars_100%", "planes", "Ships"]),
            ({"sort_by": "creation_time", "descending": True}, ["cars_100%", "planes", "Ships"]),
            ({"sort_by": "last_updated_time"}, ["planes", "Ships", "cars_100%"]),
            ({"sort_by": "num_versions", "descending": True}, ["Ships", "planes", "cars_100%"]),
            ({"sort_by": "workspace", "descending": True}, ["planes", "Ships", "cars_100%"]),
            ({"sort_by": "description", "descending": True}, ["Ships", "cars_100%", "planes"]),
            ({"id": 2}, ["planes"]),
            ({"name_contains": "SHIP"}, ["Ships"]),
            ({"name_contains": "_100%"}, ["cars_100%"]),
            ({"description_contains": "water"}, ["Ships"]),
            ({"labels": ("all",)}, ["Ships", "planes"]),
            ({"labels": ("all", "sea")}, ["Ships"]),
            ({"labels": ("al",)}, []),
            ({"archived": False}, ["Ships", "cars_100%"]),
            ({"user_ids": (2,)}, ["planes"]),
            ({"users": ("nobody",), "user_ids": (2,)}, ["planes"]),
            ({"users": ("nobody",)}, []),
            ({"workspace_names": ("lab",)}, ["planes"]),
            ({"workspace_ids": (1,)}, ["Ships", "cars_100%"]),
        ],
    )
    def test_filters_and_orders(self, store: Store, query: dict[str, Any], names: list[str]) -> None:
        with store.read() as tx:
            found, total = tx.models.search(ModelQuery(**query))

        assert ([model.name for model in found], total) == (names, len(names))

    @pytest.mark.parametrize(("offset", "limit", "names"), [(1, 1, ["planes"]), (-1, None, ["cars_100%"]), (9, 1, [])])
    def test_pages_know_the_total(self, store: Store, offset: int, limit: int | None, names: list[str]) -> None:
        with store.read() as tx:
            found, total = tx.models.search(ModelQuery(offset=offset, limit=limit))

        assert ([model.name for model in found], total) == (names, 3)

    def test_names_are_sorted_either_way(self, store: Store) -> None:
        with store.read() as tx:
            up = [model.name for model in tx.models.search(ModelQuery(sort_by="name"))[0]]
            down = [model.name for model in tx.models.search(ModelQuery(sort_by="name", descending=True))[0]]

        assert up == down[::-1]
        assert sorted(up) == sorted(["Ships", "planes", "cars_100%"])

    def test_an_unknown_order_is_refused(self, store: Store) -> None:
        with (
            store.read() as tx,
            pytest.raises(InvalidInput, match=r"cannot be sorted by 'colour'\. Use one of: id, name"),
        ):
            tx.models.search(ModelQuery(sort_by="colour"))

    def test_labels_come_most_used_first(self, store: Store) -> None:
        with store.read() as tx:
            assert tx.models.labels() == ["all", "sea"]
            assert tx.models.labels(2) == ["all"]


class TestDatasets:
    def test_one_comes_back_with_every_field(self, store: Store) -> None:
        given = _dataset(
            "xview",
            "aa",
            description="d",
            classes=(DatasetClass(0, "Plane"), DatasetClass(7, "Ship")),
            parents=(3, 4),
            statistics={"images": 2, "mean": 1.5},
        )

        with store.write() as tx:
            added = tx.datasets.add(given)
            changed = replace(added, description="other")
            tx.datasets.save(changed)

        assert (added.version, added.reference) == (1, "xview:1")
        with store.read() as tx:
            assert tx.datasets.get(added.id) == changed
            with pytest.raises(NotFound, match="dataset not found: 99"):
                tx.datasets.get(99)

    def test_the_same_content_under_the_same_name_is_the_same_version(self, store: Store) -> None:
        with store.write() as tx:
            first = tx.datasets.add(_dataset("xview", "aa"))
            again = tx.datasets.add(_dataset("xview", "aa", uri="s3://elsewhere"))
            other = tx.datasets.add(_dataset("xview", "bb"))
            namesake = tx.datasets.add(_dataset("copy", "aa"))

        assert again == first
        assert (other.version, namesake.version) == (2, 1)

    def test_the_newest_is_found_without_a_number(self, store: Store) -> None:
        with store.write() as tx:
            first, second = tx.datasets.add(_dataset("xview", "aa")), tx.datasets.add(_dataset("xview", "bb"))

        with store.read() as tx:
            assert tx.datasets.find("xview") == second
            assert tx.datasets.find("xview", 1) == first
            assert tx.datasets.find("xview", 3) is None
            assert tx.datasets.find("nothing") is None

    def test_a_number_never_comes_to_mean_other_files(self, store: Store) -> None:
        with store.write() as tx:
            tx.datasets.add(_dataset("xview", "aa"))
            second = tx.datasets.add(_dataset("xview", "bb"))
            tx.datasets.remove(second.id)
            tx.datasets.remove(second.id)
            third = tx.datasets.add(_dataset("xview", "cc"))

        assert third.version == 3

    def test_lists_are_newest_first(self, store: Store) -> None:
        with store.write() as tx:
            tx.datasets.add(_dataset("xView", "aa"))
            tx.datasets.add(_dataset("xView", "bb"))
            tx.datasets.add(_dataset("dota", "cc", workspace_id=2))

        with store.read() as tx:
            assert [each.reference for each in tx.datasets.search()] == ["dota:1", "xView:2", "xView:1"]
            assert [each.reference for each in tx.datasets.search(name_contains="XV")] == ["xView:2", "xView:1"]
            assert [each.reference for each in tx.datasets.search(workspace_id=2)] == ["dota:1"]

    def test_links_to_experiments_are_kept_once(self, store: Store) -> None:
        with store.write() as tx:
            first, second = tx.datasets.add(_dataset("a", "aa")), tx.datasets.add(_dataset("b", "bb"))
            for experiment_id, dataset in ((1, first), (1, first), (2, first), (1, second)):
                tx.datasets.link(experiment_id, dataset.id)

        with store.write() as tx:
            assert tx.datasets.of_experiment(1) == [first, second]
            assert tx.datasets.experiments(first.id) == [2, 1]
            tx.datasets.remove(first.id)
            assert tx.datasets.of_experiment(2) == []

    def test_a_removed_experiment_takes_its_links_along(self, store: Store, trial: Trial) -> None:
        with store.write() as tx:
            dataset = tx.datasets.add(_dataset("a", "aa"))
            tx.datasets.link(trial.experiment_id, dataset.id)
            tx.experiments.remove(trial.experiment_id)

            assert tx.datasets.experiments(dataset.id) == []

    def test_children_are_those_that_name_it_as_a_parent(self, store: Store) -> None:
        with store.write() as tx:
            parent = tx.datasets.add(_dataset("raw", "aa"))
            child = tx.datasets.add(_dataset("tiles", "bb", parents=(parent.id,)))
            tx.datasets.add(_dataset("other", "cc", parents=(parent.id + 10,)))

        with store.read() as tx:
            assert tx.datasets.children(parent.id) == [child]


class TestWhatIsHeld:
    def test_checkpoints_of_versions_and_of_live_revisions_are_in_use(self, store: Store, trial: Trial) -> None:
        states = {"ready": RevisionState.READY, "starting": RevisionState.STARTING}
        over = {"retired": RevisionState.RETIRED, "failed": RevisionState.FAILED}

        with store.write() as tx:
            for uuid in ("free", "registered", *states, *over):
                tx.checkpoints.add(_checkpoint(trial, uuid))
            model = tx.models.add(_model("ships"))
            version = tx.models.add_version(_version(model.id, "registered"))
            _deploy(tx, {**states, **over})

        with store.write() as tx:
            assert tx.checkpoints.in_use(trial.experiment_id) == {"registered", *states}
            assert tx.checkpoints.in_use(99) == set()
            tx.models.remove_version(version.id)
            assert tx.checkpoints.in_use(trial.experiment_id) == set(states)


def _checkpoint(trial: Trial, uuid: str) -> Checkpoint:
    return Checkpoint(
        uuid=uuid,
        state=CheckpointState.COMPLETED,
        report_time=NOON,
        resources={"w": 1},
        metadata={},
        task_id=trial.task_id,
        trial_id=trial.id,
        experiment_id=trial.experiment_id,
        steps_completed=1,
    )


def _deploy(tx: Transaction, states: dict[str, RevisionState]) -> None:
    """One deployment with a revision of each checkpoint, and one that comes from no checkpoint at all."""
    deployment = tx.deployments.add(
        Deployment(id=0, name="d", namespace="default", user_id=1, workspace_id=1, created_at=NOON, updated_at=NOON)
    )
    revision = Revision(
        id=0,
        deployment_id=deployment.id,
        number=0,
        source="test",
        model_version_id=None,
        checkpoint_uuid=None,
        serving=Serving(),
        created_at=NOON,
    )
    tx.deployments.add_revision(revision)
    for uuid, state in states.items():
        tx.deployments.add_revision(replace(revision, checkpoint_uuid=uuid, state=state))
