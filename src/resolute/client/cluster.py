"""What work runs on: nodes, slots, pools, the job queue, tasks, and the master itself."""

from collections.abc import Iterator
from typing import Any

from resolute.client.logs import LogFilter, read_logs
from resolute.client.session import Session

Json = dict[str, Any]


class Cluster:
    def __init__(self, session: Session) -> None:
        self._session = session

    def agents(self) -> list[Json]:
        return list(self._session.get("/api/v1/agents").get("agents") or [])

    def set_agent(self, agent_id: str, *, is_enabled: bool, drain: bool = False) -> None:
        if is_enabled:
            self._session.post(f"/api/v1/agents/{agent_id}/enable")
        else:
            self._session.post(f"/api/v1/agents/{agent_id}/disable", {"drain": drain})

    def set_slot(self, agent_id: str, slot_id: str, *, is_enabled: bool) -> None:
        self._session.post(f"/api/v1/agents/{agent_id}/slots/{slot_id}/{'enable' if is_enabled else 'disable'}")

    def resource_pools(self) -> list[Json]:
        return list(self._session.get("/api/v1/resource-pools").get("resourcePools") or [])

    def jobs(self, pool: str | None = None, *, is_reversed: bool = False) -> list[Json]:
        """The queue of a pool, first to run first. Without a name: the default pool."""
        order = "ORDER_BY_DESC" if is_reversed else "ORDER_BY_ASC"
        query: Json = {"resourcePool": pool or self._default_pool(), "orderBy": order}
        found = self._session.pages("/api/v1/job-queues-v2", "jobs", **query)
        return [job.get("full") or job.get("limited") or job for job in found]

    def update_job(self, job_id: str, **change: Any) -> None:
        """One of priority=, weight=, resourcePool=, aheadOf=, behindOf=."""
        self._session.post("/api/v1/job-queues", {"updates": [{"jobId": job_id, **change}]})

    def tasks(self) -> dict[str, Json]:
        """What holds or wants slots, by allocation id."""
        return dict(self._session.get("/api/v1/tasks").get("allocationIdToSummary") or {})

    def task(self, task_id: str) -> Json:
        return dict(self._session.get(f"/api/v1/tasks/{task_id}")["task"])

    def task_logs(self, task_id: str, wanted: LogFilter | None = None) -> Iterator[Json]:
        return read_logs(self._session, f"/api/v1/tasks/{task_id}/logs", wanted or LogFilter())

    def info(self) -> Json:
        return self._session.call("GET", "/api/v1/master", is_open=True)

    def config(self) -> Json:
        return dict(self._session.get("/api/v1/master/config").get("config") or {})

    def logs(self, *, follow: bool = False, tail: int | None = None) -> Iterator[Json]:
        offset = None if tail is None else -tail
        for message in self._session.stream("/api/v1/master/logs", follow=follow or None, offset=offset):
            yield message.get("logEntry") or message

    def _default_pool(self) -> str:
        pools = self.resource_pools()
        chosen = next((p for p in pools if p.get("defaultComputePool")), pools[0] if pools else {})
        return str(chosen.get("name") or "default")
