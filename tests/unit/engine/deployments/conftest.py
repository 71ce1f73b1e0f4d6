"""Deployments over a whole platform in memory: a runner and a router without processes, turned by hand."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.deployment import Deployment, Guard, Revision, Scaling, Serving
from resolute.domain.replica import Replica
from resolute.engine.deployments import deployments as engine
from resolute.engine.deployments.models import SourceSpec
from resolute.engine.deployments.replicas import replicas_of_deployments
from resolute.engine.deployments.rollouts import IDLE_WAIT_S, Rollouts
from resolute.engine.jobs.allocations import mark_ready, set_proxy_address
from resolute.serving.router.fake import FakeRouter


@dataclass
class Stage:
    """A world with deployments in it."""

    world: Any
    router: FakeRouter
    rollouts: Rollouts
    model: Path

    @property
    def platform(self) -> Any:
        return self.world.platform

    def source(self, **given: Any) -> SourceSpec:
        return SourceSpec(**(given or {"model_uri": str(self.model)}))

    def create(self, name: str = "echo", *, serving: Serving = Serving(), **fields: Any) -> Deployment:
        known: dict[str, Any] = {
            "namespace": "default",
            "user_id": self.world.user.id,
            "workspace_id": 1,
            "source": self.source(),
            "serving": lambda _: serving,
            "scaling": Scaling(),
            "guard": Guard(),
            "sticky": "",
            "public": False,
        }
        return engine.create_deployment(self.platform, name=name, **{**known, **fields})[0]

    def turn(self, times: int = 1) -> None:
        """The roll-outs decide, the engine starts and reaps, the router counts."""
        for _ in range(times):
            self.rollouts.pass_once()
            self.world.tick()
            counts = self.router.counts()
            if counts is not None:
                self.platform.traffic.record(counts, self.world.clock())

    def settle(self, at_least: int = 3) -> None:
        """Turn until nothing comes or goes, a second each; model servers get ready as soon as they run."""
        for turn in range(15):
            wait_s, _ = self.rollouts.pass_once()
            self.turn()
            self.get_ready()
            self.world.clock.forward(1)
            if turn >= at_least and wait_s == IDLE_WAIT_S:
                return

    def get_ready(self) -> None:
        for replica in self.replicas():
            if replica.state == "STARTING":
                set_proxy_address(self.platform, replica.allocation_id, f"127.0.0.1:{4000 + len(replica.task_id)}")
                mark_ready(self.platform, replica.allocation_id)

    def replicas(self, name: str = "echo") -> list[Replica]:
        with self.platform.store.read() as tx:
            deployment = tx.deployments.find(name)
            return replicas_of_deployments(tx).get(deployment.id, []) if deployment else []

    def deployment(self, name: str = "echo") -> Deployment:
        with self.platform.store.read() as tx:
            return engine.find_deployment(tx, name)

    def revision(self, number: int, name: str = "echo") -> Revision:
        with self.platform.store.read() as tx:
            found = tx.deployments.revisions(engine.find_deployment(tx, name).id)
        return next(r for r in found if r.number == number)

    def split(self, name: str = "echo") -> dict[int, float]:
        return dict(self.router.routed(name).split)


@pytest.fixture
def stage(world: Any) -> Iterator[Stage]:
    model = world.home / "model"
    model.mkdir(parents=True)
    router = FakeRouter()
    rollouts = Rollouts(world.platform, router)
    yield Stage(world, router, rollouts, model)
    rollouts.close()
