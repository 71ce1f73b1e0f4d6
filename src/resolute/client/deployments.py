"""Deployments from Python: serve a model, try another one on a share of the traffic, promote it or take it back."""

import time
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from resolute.client.logs import LogFilter, read_logs
from resolute.client.resource import Resource, bare
from resolute.client.session import Session
from resolute.domain.errors import IllegalTransition, Unavailable

Json = dict[str, Any]
_PATH = "/api/v1/deployments"
_LOOK_S = 0.1


class Deployments:
    """`client.deployments`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def create(
        self,
        name: str,
        *,
        model: str | None = None,
        checkpoint: str | None = None,
        model_uri: str | None = None,
        replace: bool = False,
        **settings: Any,
    ) -> "Deployment":
        """Serve a model under `name`. `settings`: serving=, scaling=, guard= (dictionaries), sticky=, public=,
        namespace=, workspaceId=. Returns at once; `wait()` until it answers."""
        body = {"name": name, **_source(model, checkpoint, model_uri), "replace": replace, **settings}
        answer = self._session.post(_PATH, body)
        return Deployment(self._session, {**answer["deployment"], "apiKey": answer.get("apiKey", "")})

    def get(self, name: str) -> "Deployment":
        return Deployment(self._session, {"name": name}).reload()

    def all(self) -> list["Deployment"]:
        found = self._session.get(_PATH).get("deployments") or []
        return [Deployment(self._session, item) for item in found]


class Deployment(Resource):
    """A deployment as it was when last read."""

    @property
    def name(self) -> str:
        return str(self.data["name"])

    @property
    def state(self) -> str:
        return self._state()

    @property
    def url(self) -> str:
        """Of the router; empty until that has started."""
        return str(self.data.get("url") or "")

    @property
    def api_key(self) -> str:
        """Known to whoever created it, from that very answer."""
        return str(self.data.get("apiKey") or "")

    @property
    def revisions(self) -> list[Json]:
        """Newest first."""
        return list(self.data.get("revisions") or [])

    def reload(self) -> "Deployment":
        return self._take(self.session.get(self._path()))

    def update(
        self, *, model: str | None = None, checkpoint: str | None = None, model_uri: str | None = None, **settings: Any
    ) -> "Deployment":
        """To another model, without a pause."""
        return self._post("update", {**_source(model, checkpoint, model_uri), **settings})

    def canary(
        self,
        percent: int,
        *,
        model: str | None = None,
        checkpoint: str | None = None,
        model_uri: str | None = None,
        **settings: Any,
    ) -> "Deployment":
        """A share of the requests to another model; without one, the running canary's share changes."""
        return self._post("canary", {"percent": percent, **_source(model, checkpoint, model_uri), **settings})

    def promote(self) -> "Deployment":
        return self._post("promote", {})

    def rollback(self) -> "Deployment":
        return self._post("rollback", {})

    def pin(self, revision: int) -> "Deployment":
        return self._post("pin", {"revision": revision})

    def shadow(
        self,
        percent: int = 100,
        *,
        model: str | None = None,
        checkpoint: str | None = None,
        model_uri: str | None = None,
        **settings: Any,
    ) -> "Deployment":
        """Copies of a share of the requests; the answers are counted and dropped."""
        return self._post("shadow", {"percent": percent, **_source(model, checkpoint, model_uri), **settings})

    def stop_shadow(self) -> "Deployment":
        return self._take(self.session.delete(f"{self._path()}/shadow"))

    def change(self, **changes: Any) -> "Deployment":
        """scaling=, guard= (merged key by key), sticky=, public=."""
        return self._take(self.session.patch(self._path(), changes))

    def scale(self, **scaling: Any) -> "Deployment":
        """min_replicas=, max_replicas=, target=, metric=, window_s=, idle_s=."""
        return self.change(scaling=scaling)

    def delete(self) -> None:
        self.session.delete(self._path())

    def stats(self, seconds: int = 300) -> Json:
        return self.session.get(f"{self._path()}/stats", seconds=seconds)

    def predict(self, instances: Sequence[Any], **parameters: Any) -> list[Any]:
        """V1 protocol, through the master. Waits for a replica when there is none."""
        body = {"instances": list(instances), **parameters}
        path = f"/serving/{quote(self.name, safe='')}/v1/models/{quote(self.name, safe='')}:predict"
        return list(self.session.post(path, body).get("predictions") or [])

    def wait(self, *, revision: int | None = None, timeout_s: float = 300.0) -> "Deployment":
        """Until `revision` (None: the newest) is ready. Raises IllegalTransition with its reason when it fails."""
        number = revision or int(self.reload().revisions[0]["number"])
        ends_at = time.monotonic() + timeout_s
        while time.monotonic() < ends_at:
            found = next(r for r in self.reload().revisions if r["number"] == number)
            state = bare(str(found["state"]))
            if state == "READY":
                return self
            if state in ("FAILED", "RETIRED"):
                raise IllegalTransition(f"Revision {number} of {self.name} is {state}: {found['reason']}")
            time.sleep(_LOOK_S)
        raise Unavailable(f"Revision {number} of {self.name} is not ready after {timeout_s:g} s.")

    def logs(self, wanted: LogFilter | None = None, *, revision: int | None = None) -> Iterator[Json]:
        """Of its replicas, one after the other; with `follow`, of the newest one."""
        wanted = wanted or LogFilter()
        revisions = [r for r in self.reload().revisions if revision in (None, r["number"])]
        tasks = [str(replica["taskId"]) for r in revisions for replica in r.get("replicas") or []]
        for task_id in tasks[:1] if wanted.follow else reversed(tasks):
            yield from read_logs(self.session, f"/api/v1/tasks/{task_id}/logs", wanted)

    def _path(self) -> str:
        return f"{_PATH}/{quote(self.name, safe='')}"

    def _post(self, what: str, body: Json) -> "Deployment":
        return self._take(self.session.post(f"{self._path()}/{what}", body))

    def _take(self, answer: Json) -> "Deployment":
        self.data = {**self.data, **answer["deployment"]}
        return self


def _source(model: str | None, checkpoint: str | None, model_uri: str | None) -> Json:
    given = {"model": model, "checkpointUuid": checkpoint, "modelUri": model_uri}
    return {key: value for key, value in given.items() if value is not None}
