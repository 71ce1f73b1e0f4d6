"""What came from what, from raw data to where a model is served; and what being served protects."""

import hashlib
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from resolute.domain.dataset import DatasetFile
from resolute.domain.deployment import Deployment, Revision, RevisionState, Serving
from resolute.domain.errors import IllegalTransition, NotFound
from resolute.engine.experiments.collection import delete_checkpoints
from resolute.engine.experiments.submission import continue_experiment
from resolute.engine.registry import datasets
from resolute.engine.registry import models as registry
from resolute.engine.registry.lineage import Kind, Lineage, lineage
from resolute.spec import manifest

CONFIG = """
entrypoint: python3 train.py
searcher: {name: single, metric: loss}
data: {dataset: tiles}
"""


def add_dataset(world: Any, name: str, *parents: str) -> None:
    files = [DatasetFile(f"{name}.json", 1, hashlib.sha256(repr(parents).encode()).hexdigest())]
    given = datasets.NewDataset(name=name, uri="/data", packed_manifest=manifest.pack(files), parents=parents)
    datasets.register_dataset(world.platform, given, user=world.user)


def deploy(world: Any, name: str, *, version_id: int | None = None, uuid: str, namespace: str = "default") -> Revision:
    now = world.clock()
    with world.platform.store.write() as tx:
        found = tx.deployments.find(name, namespace) or tx.deployments.add(
            Deployment(
                id=0,
                name=name,
                namespace=namespace,
                user_id=world.user.id,
                workspace_id=1,
                created_at=now,
                updated_at=now,
            )
        )
        revision = Revision(
            id=0,
            deployment_id=found.id,
            number=0,
            source="test",
            model_version_id=version_id,
            checkpoint_uuid=uuid,
            serving=Serving(),
            created_at=now,
            state=RevisionState.READY,
        )
        return tx.deployments.add_revision(revision)


def seen(world: Any, kind: Kind, thing_id: str, **options: Any) -> Lineage:
    with world.platform.store.read() as tx:
        return lineage(tx, kind, thing_id, **options)


def keys(found: Lineage) -> set[str]:
    return {node.key for node in found.nodes}


@pytest.fixture
def chain(world: Any) -> dict[str, Any]:
    """raw -> tiles -> experiment -> trial -> checkpoint -> ships/1 -> shop/1; lab/side serves the checkpoint itself."""
    add_dataset(world, "raw")
    add_dataset(world, "tiles", "raw:1")
    experiment = world.create(CONFIG)
    world.tick(2)
    (trial,) = world.trials(experiment.id)
    uuid = world.checkpoint(trial, 1)
    registry.create_model(world.platform, user=world.user, name="ships")
    version = registry.register_version(world.platform, "ships", user=world.user, checkpoint_uuid=uuid)
    deploy(world, "shop", version_id=version.id, uuid=uuid)
    deploy(world, "side", uuid=uuid, namespace="lab")
    return {"experiment": experiment, "trial": trial, "uuid": uuid, "version": version}


def way(chain: dict[str, Any]) -> list[str]:
    return [
        "dataset:raw:1",
        "dataset:tiles:1",
        f"experiment:{chain['experiment'].id}",
        f"trial:{chain['trial'].id}",
        f"checkpoint:{chain['uuid']}",
        "model_version:ships/1",
        "deployment:shop/1",
    ]


@pytest.mark.parametrize("thing_id", ["shop", "shop/1"])
def test_a_deployment_knows_the_data_behind_it(world: Any, chain: dict[str, Any], thing_id: str) -> None:
    found = seen(world, Kind.DEPLOYMENT, thing_id)

    names = way(chain)
    assert keys(found) == set(names)
    assert set(found.edges) == set(pairwise(names))


def test_data_knows_where_it_ended_up(world: Any, chain: dict[str, Any]) -> None:
    found = seen(world, Kind.DATASET, "raw")

    assert keys(found) == {*way(chain), "deployment:lab/side/1"}
    assert (f"checkpoint:{chain['uuid']}", "deployment:lab/side/1") in found.edges


@pytest.mark.parametrize(
    ("kind", "thing_id"), [(Kind.EXPERIMENT, "1"), (Kind.TRIAL, "1"), (Kind.MODEL_VERSION, "ships/1")]
)
def test_both_ways_are_seen_from_the_middle(world: Any, chain: dict[str, Any], kind: Kind, thing_id: str) -> None:
    assert set(way(chain)) <= keys(seen(world, kind, thing_id))


def test_a_version_is_also_found_by_its_number(world: Any, chain: dict[str, Any]) -> None:
    assert keys(seen(world, Kind.MODEL_VERSION, str(chain["version"].id))) == set(way(chain))


def test_a_trial_remembers_the_checkpoint_it_began_from(world: Any, chain: dict[str, Any]) -> None:
    second = world.create(CONFIG)
    world.tick(2)
    (trial,) = world.trials(second.id)
    with world.platform.store.write() as tx:
        tx.trials.save(replace(trial, warm_start_checkpoint=chain["uuid"]))

    found = seen(world, Kind.TRIAL, str(trial.id))

    assert (f"checkpoint:{chain['uuid']}", f"trial:{trial.id}") in found.edges
    assert f"trial:{chain['trial'].id}" in keys(found)


def test_it_looks_back_and_forward_but_not_sideways(world: Any, chain: dict[str, Any]) -> None:
    other = world.checkpoint(chain["trial"], 2)

    assert f"checkpoint:{other}" not in keys(seen(world, Kind.CHECKPOINT, chain["uuid"]))
    assert f"checkpoint:{other}" in keys(seen(world, Kind.TRIAL, str(chain["trial"].id)))


def test_a_graph_too_large_to_look_at_is_cut_and_says_so(world: Any, chain: dict[str, Any]) -> None:
    found = seen(world, Kind.EXPERIMENT, "1", max_nodes=4)

    assert len(found.nodes) == 4
    assert found.is_truncated
    assert all({start, end} <= keys(found) for start, end in found.edges)


@pytest.mark.parametrize("thing_id", ["nobody", "shop/2", "lab/shop"])
def test_an_unknown_deployment_is_not_found(world: Any, chain: dict[str, Any], thing_id: str) -> None:
    with pytest.raises(NotFound, match="deployment"):
        seen(world, Kind.DEPLOYMENT, thing_id)


def test_what_is_served_can_be_deleted_only_when_it_is_no_more(world: Any, chain: dict[str, Any]) -> None:
    with pytest.raises(IllegalTransition, match=r"Version 1 of model 'ships' is served by: shop"):
        registry.delete_version(world.platform, "ships", 1)
    with pytest.raises(IllegalTransition, match="is served by: shop"):
        registry.delete_model(world.platform, "ships")
    with world.platform.store.write() as tx:
        for revision in tx.deployments.of_model_version(chain["version"].id):
            tx.deployments.save_revision(replace(revision, state=RevisionState.RETIRED))

    registry.delete_model(world.platform, "ships")

    with pytest.raises(IllegalTransition, match="is served by a deployment"):
        delete_checkpoints(world.platform, [chain["uuid"]])


def test_continuing_an_experiment_keeps_its_exact_dataset(world: Any, chain: dict[str, Any]) -> None:
    world.finish(chain["trial"])
    add_dataset(world, "more")
    add_dataset(world, "tiles", "more:1")
    experiment_id = chain["experiment"].id
    with world.platform.store.read() as tx:
        newest = tx.datasets.find("tiles")

    same = continue_experiment(world.platform, experiment_id, "max_restarts: 1\n")
    world.tick(2)
    world.finish(chain["trial"])
    other = continue_experiment(world.platform, experiment_id, "data: {dataset: more}\n")

    with world.platform.store.read() as tx:
        linked = tx.datasets.of_experiment(experiment_id)
    assert newest.version == 2
    assert same.config["data"] == {"dataset": "tiles:1"}
    assert other.config["data"] == {"dataset": "more:1"}
    assert [each.reference for each in linked] == ["tiles:1", "more:1"]
