"""`engine.ports.registry.Deployments`, on every database."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from resolute.domain.deployment import Deployment, Guard, Revision, RevisionState, Scaling, Serving
from resolute.domain.errors import AlreadyExists, NotFound
from resolute.engine.ports.database import Store

NOON = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)


def deployment(name: str = "echo", **changes: Any) -> Deployment:
    known = Deployment(
        id=0, name=name, namespace="default", user_id=1, workspace_id=1, created_at=NOON, updated_at=NOON
    )
    return replace(known, **changes)


def revision(deployment_id: int, **changes: Any) -> Revision:
    known = Revision(
        id=0,
        deployment_id=deployment_id,
        number=0,
        source="checkpoint:u1",
        model_version_id=None,
        checkpoint_uuid="u1",
        serving=Serving(),
        created_at=NOON,
    )
    return replace(known, **changes)


def test_a_deployment_comes_back_as_it_was_stored(store: Store) -> None:
    given = deployment(
        stable=2,
        previous=1,
        canary=3,
        canary_percent=30,
        shadow=4,
        shadow_percent=50,
        sticky="cookie:seat",
        scaling=Scaling(min_replicas=0, max_replicas=7, metric="rate", target=2.5, window_s=10, idle_s=33),
        guard=Guard(enabled=False, min_requests=3, error_rate_margin=0.5, latency_factor=0),
        public=True,
    )

    with store.write() as tx:
        added = tx.deployments.add(given)
    with store.read() as tx:
        found = tx.deployments.get(added.id)

    assert found == replace(given, id=added.id)


def test_names_are_unique_in_their_namespace(store: Store) -> None:
    with store.write() as tx:
        tx.deployments.add(deployment())
        tx.deployments.add(deployment(namespace="other"))
    with store.write() as tx, pytest.raises(AlreadyExists, match="'echo' exists already in namespace 'default'"):
        tx.deployments.add(deployment())

    with store.read() as tx:
        assert len(tx.deployments.all()) == 2
        found = tx.deployments.find("echo", "other")
        assert found is not None
        assert found.namespace == "other"
        assert tx.deployments.find("nope") is None


def test_a_deployment_is_saved_and_missed(store: Store) -> None:
    with store.write() as tx:
        added = tx.deployments.add(deployment())
        later = replace(added, stable=1, is_deleted=True, updated_at=NOON + timedelta(seconds=1))
        tx.deployments.save(later)

    with store.read() as tx:
        assert tx.deployments.get(added.id) == later
        with pytest.raises(NotFound, match="deployment not found: 99"):
            tx.deployments.get(99)
    with store.write() as tx, pytest.raises(NotFound):
        tx.deployments.save(replace(added, id=99))


def test_revisions_are_numbered_within_their_deployment(store: Store) -> None:
    with store.write() as tx:
        one, two = tx.deployments.add(deployment("one")), tx.deployments.add(deployment("two"))
        numbers = [tx.deployments.add_revision(revision(d.id)).number for d in (one, one, two, one)]

    with store.read() as tx:
        newest_first = [r.number for r in tx.deployments.revisions(one.id)]

    assert numbers == [1, 2, 1, 3]
    assert newest_first == [3, 2, 1]


def test_a_revision_comes_back_as_it_was_stored(store: Store) -> None:
    serving = Serving(slots=2, environment={"A": "b"}, options={"score": 0.5, "deep": [1]}, command=["python3", "x.py"])
    with store.write() as tx:
        owner = tx.deployments.add(deployment())
        added = tx.deployments.add_revision(revision(owner.id, model_version_id=5, serving=serving))
        changed = replace(added.moved_to(RevisionState.FAILED, "it broke"), replicas_wanted=3)
        tx.deployments.save_revision(changed)

    with store.read() as tx:
        assert tx.deployments.revisions(owner.id) == [changed]
        assert tx.deployments.of_model_version(5) == [changed]
        assert tx.deployments.of_model_version(6) == []


def test_only_revisions_that_are_served_hold_their_checkpoints(store: Store) -> None:
    with store.write() as tx:
        owner = tx.deployments.add(deployment())
        states = (RevisionState.STARTING, RevisionState.READY, RevisionState.FAILED, RevisionState.RETIRED)
        for number, state in enumerate(states):
            tx.deployments.add_revision(revision(owner.id, checkpoint_uuid=f"u{number}", state=state))

    with store.read() as tx:
        held = tx.deployments.of_checkpoints(["u0", "u1", "u2", "u3", "u9"])

    assert [r.checkpoint_uuid for r in held] == ["u0", "u1"]


def test_a_removed_deployment_takes_its_revisions_with_it(store: Store) -> None:
    with store.write() as tx:
        one, two = tx.deployments.add(deployment("one")), tx.deployments.add(deployment("two"))
        tx.deployments.add_revision(revision(one.id))
        tx.deployments.add_revision(revision(two.id))
        tx.deployments.remove(one.id)

    with store.read() as tx:
        assert [d.name for d in tx.deployments.all()] == ["two"]
        assert tx.deployments.revisions(one.id) == []
        assert len(tx.deployments.revisions(two.id)) == 1
