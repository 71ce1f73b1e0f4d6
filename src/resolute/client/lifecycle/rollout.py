"""A model's deployment: one name, its revisions, and the share of requests that each gets."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from resolute.client.client import Client
from resolute.client.deployments import Deployment
from resolute.client.lifecycle.definition import Definition
from resolute.client.lifecycle.faults import (
    InvalidModelProperty,
    ModelDeploymentException,
    UnsupportedModelDeploymentException,
    WorkloadDeploymentError,
)
from resolute.client.lifecycle.messages import Messages
from resolute.domain.errors import IllegalTransition, NotFound, Unavailable

Json = dict[str, Any]
_LOOK_S = 0.1
SETTINGS = ("guard", "public", "serving", "sticky")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is deployed: a version of the registry, or files that the master sees."""

    model: str | None = None
    model_uri: str | None = None

    @property
    def label(self) -> str:
        """As a deployment's revision names it."""
        return f"model:{self.model}" if self.model else str(self.model_uri)

    def arguments(self) -> dict[str, str]:
        return {"model": self.model} if self.model else {"model_uri": str(self.model_uri)}


class Rollout:
    """`timeout_s` is how long a revision may take to be ready."""

    def __init__(
        self,
        client: Client,
        definition: Definition,
        messages: Messages,
        *,
        timeout_s: float,
        interval_s: float = _LOOK_S,
    ) -> None:
        self._client = client
        self._definition = definition
        self._messages = messages
        self._timeout_s = timeout_s
        self._interval_s = interval_s

    def find(self) -> Deployment | None:
        try:
            found = self._client.deployments.get(self._definition.service)
        except NotFound:
            return None
        return None if found.state == "DELETING" else found

    def deployed(self) -> Deployment:
        """Raises ModelDeploymentException when there is none."""
        found = self.find()
        if found is None:
            raise ModelDeploymentException(
                f"Model {self._definition.id} is not deployed: there is no deployment {self._definition.service}. "
                "Call deploy() first."
            )
        return found

    def deploy(self, source: Source, *, replace: bool, **settings: Any) -> Deployment:
        service = self._definition.service
        made = self._client.deployments.create(service, **source.arguments(), replace=replace, **settings)
        number = int(made.reload().revisions[0]["number"])
        self._await_ready(made, number)
        return self._await(made, lambda: made.data.get("stableRevision") == number, "takes over")

    def canary(self, percent: int, source: Source | None, **settings: Any) -> Deployment:
        """Without a source, or with the one that runs, the running canary's share changes."""
        if isinstance(percent, bool) or not isinstance(percent, int) or not 0 <= percent <= 100:
            raise InvalidModelProperty(f"canary_traffic_percentage: {percent!r}. Give a whole number from 0 to 100.")
        deployment = self.deployed()
        running = _revision(deployment, deployment.data.get("canaryRevision"))
        if source is None or (running and running["source"] == source.label):
            deployment.canary(percent)
        else:
            deployment.canary(percent, **source.arguments(), **settings)
        self._await_ready(deployment, int(deployment.data["canaryRevision"]))
        return deployment

    def promote(self) -> Deployment:
        deployment = self._with_canary()
        number = deployment.data["canaryRevision"]
        deployment.promote()
        return self._await(deployment, lambda: deployment.data.get("stableRevision") == number, "takes over")

    def roll_back(self) -> Deployment:
        return self._with_canary().rollback()

    def undeploy(self) -> None:
        self.deployed().delete()
        ends_at = time.monotonic() + self._timeout_s
        while any(each.name == self._definition.service for each in self._client.deployments.all()):
            if time.monotonic() >= ends_at:
                raise WorkloadDeploymentError(f"Deployment {self._definition.service} is still being deleted.")
            time.sleep(self._interval_s)

    def show(self, deployment: Deployment) -> None:
        self._messages.say(table(deployment))

    def address(self, deployment: Deployment) -> str:
        name = self._definition.service
        path = f"v2/models/{name}/infer" if self._definition.protocol == "v2" else f"v1/models/{name}:predict"
        return f"{deployment.url}/{path}"

    def _with_canary(self) -> Deployment:
        deployment = self.deployed()
        if deployment.data.get("canaryRevision") is None:
            raise ModelDeploymentException(
                f"Model {self._definition.id} has no canary. Start one: deploy_canary(canary_traffic_percentage=30)."
            )
        return deployment

    def _await_ready(self, deployment: Deployment, revision: int) -> None:
        try:
            deployment.wait(revision=revision, timeout_s=self._timeout_s)
        except IllegalTransition as problem:
            raise ModelDeploymentException(
                f"{problem} See its log: resolute deploy logs {self._definition.service}"
            ) from problem
        except Unavailable as problem:
            raise WorkloadDeploymentError(str(problem)) from problem

    def _await(self, deployment: Deployment, is_so: Callable[[], bool], what: str) -> Deployment:
        ends_at = time.monotonic() + self._timeout_s
        while not is_so():
            if time.monotonic() >= ends_at:
                raise WorkloadDeploymentError(f"The new revision of {deployment.name} {what} later than expected.")
            time.sleep(self._interval_s)
            deployment.reload()
        return deployment


def table(deployment: Deployment) -> str:
    """NAME READY PREV LATEST URL, as the inference services of a cluster are listed."""
    canary = deployment.data.get("canaryRevision")
    percent = int(deployment.data.get("canaryPercent") or 0)
    previous, latest = (str(100 - percent), str(percent)) if canary is not None else ("", "100")
    ready = str(deployment.state in ("READY", "SCALED_TO_ZERO"))
    row = (deployment.name, ready, previous, latest, deployment.url)
    heads = ("NAME", "READY", "PREV", "LATEST", "URL")
    widths = [max(len(head), len(cell)) for head, cell in zip(heads, row, strict=True)]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)) for cells in (heads, row))
    return "\n".join(line.rstrip() for line in lines)


def check_settings(given: Mapping[str, Any]) -> None:
    """Settings of a deployment that may be given along."""
    if given.get("transformer") is not None:
        raise UnsupportedModelDeploymentException(
            "transformer: there are none here. Put what it does before and after the model into a handler of your own: "
            'serving_config={"handler": "handler.py"}.'
        )
    unknown = sorted(set(given) - {*SETTINGS, "transformer"})
    if unknown:
        raise InvalidModelProperty(f"deploy: {unknown[0]!r} is unknown. Known are {', '.join(SETTINGS)}.")


def _revision(deployment: Deployment, number: int | None) -> Json | None:
    return next((each for each in deployment.revisions if number is not None and each["number"] == number), None)
