"""Commands, notebooks, TensorBoards and shells: started, found again, waited for, ended."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from resolute.client.configuration import Configuration, as_dict
from resolute.client.context import pack
from resolute.client.logs import LogFilter, read_logs
from resolute.client.resource import Resource, part
from resolute.client.session import Session
from resolute.domain.errors import InvalidInput, NotFound, Unavailable

ENDED = "TERMINATED"
_WHOLE_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LAST_LINES = 10


class InteractiveTask(Resource):
    """`kind`: command, notebook, tensorboard or shell."""

    def __init__(self, session: Session, kind: str, data: dict[str, Any]) -> None:
        super().__init__(session, data)
        self.kind = kind

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def description(self) -> str:
        return str(self.data.get("description") or "")

    @property
    def state(self) -> str:
        return self._state()

    @property
    def is_ready(self) -> bool:
        return bool(self.data.get("isReady"))

    @property
    def has_ended(self) -> bool:
        return self.state == ENDED

    @property
    def exit_code(self) -> int | None:
        return self.data.get("exitCode")

    @property
    def config(self) -> dict[str, Any]:
        return dict(self.data.get("config") or {})

    @property
    def url(self) -> str:
        """Where a browser finds it; empty for one that nobody can visit."""
        path = self.data.get("serviceAddress") or ""
        return f"{self.session.master}{path}" if path else ""

    def reload(self) -> "InteractiveTask":
        self.data = _flat(self.session.get(self._path), self.kind)
        return self

    def kill(self) -> None:
        self.data = {**self.data, **_flat(self.session.post(f"{self._path}/kill"), self.kind)}

    def set_priority(self, priority: int) -> None:
        self.session.post(f"{self._path}/set_priority", {"priority": priority})

    def logs(self, wanted: LogFilter | None = None) -> Iterator[dict[str, Any]]:
        return read_logs(self.session, f"/api/v1/tasks/{self.id}/logs", wanted or LogFilter())

    def wait(self, *, interval_s: float = 0.5, sleep: Callable[[float], None] = time.sleep) -> int:
        """Until it has ended. Its exit code; 1 for one that ended without."""
        while not self.reload().has_ended:
            sleep(interval_s)
        return 1 if self.exit_code is None else self.exit_code

    def wait_ready(
        self,
        *,
        timeout_s: float = 1800.0,
        interval_s: float = 0.2,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> "InteractiveTask":
        """Until it can be used. Raises Unavailable, with the last lines of its log, when it ends before."""
        ends_at = clock() + timeout_s
        while not self.reload().is_ready:
            if self.has_ended:
                raise Unavailable(f"The {self.kind} {self.id} ended before it was ready.{self._last_words()}")
            if clock() > ends_at:
                waits = self.data.get("waitingReason") or f"It is {self.state}."
                raise Unavailable(f"The {self.kind} {self.id} is not ready after {timeout_s:g} s. {waits}")
            sleep(interval_s)
        return self

    def _last_words(self) -> str:
        lines = [str(line.get("message", "")).rstrip() for line in self.logs(LogFilter(tail=_LAST_LINES))]
        return "\n  ".join([" Its log ends with:", *lines]) if lines else ""

    @property
    def _path(self) -> str:
        return f"/api/v1/{self.kind}s/{self.id}"


class InteractiveTasks:
    """Those of one kind, on one master."""

    def __init__(self, session: Session, kind: str) -> None:
        self._session = session
        self._kind = kind
        self._path = f"/api/v1/{kind}s"

    def start(
        self,
        config: Configuration | None = None,
        *,
        overrides: Sequence[str] = (),
        context: Path | str | None = None,
        include: Sequence[Path | str] = (),
        template: str | None = None,
        workspace_id: int | None = None,
        **body: Any,
    ) -> InteractiveTask:
        """`overrides`: `key=value` texts laid over the configuration. `body`: what only its kind takes."""
        return InteractiveTask(
            self._session,
            self._kind,
            self._launch(config, overrides, context, include, template, workspace_id, body),
        )

    def preview(
        self,
        config: Configuration | None = None,
        *,
        overrides: Sequence[str] = (),
        template: str | None = None,
        workspace_id: int | None = None,
        **body: Any,
    ) -> dict[str, Any]:
        """The configuration as it would run. Starts nothing."""
        given = {**body, "preview": True}
        return dict(self._launch(config, overrides, None, (), template, workspace_id, given).get("config") or {})

    def _launch(
        self,
        config: Configuration | None,
        overrides: Sequence[str],
        context: Path | str | None,
        include: Sequence[Path | str],
        template: str | None,
        workspace_id: int | None,
        body: dict[str, Any],
    ) -> dict[str, Any]:
        given = {
            "config": as_dict({} if config is None else config, overrides),
            "files": pack(context, include),
            "templateName": template,
            "workspaceId": workspace_id,
            **body,
        }
        answer = self._session.post(self._path, {key: value for key, value in given.items() if value is not None})
        return {**_flat(answer, self._kind), "messages": answer.get("messages") or []}

    def list(self, *, users: Sequence[str] = (), workspace_id: int | None = None) -> list[InteractiveTask]:
        """Oldest first, those that have ended too. Without `users`: of everybody."""
        found = self._session.pages(self._path, f"{self._kind}s", users=list(users), workspaceId=workspace_id)
        return [InteractiveTask(self._session, self._kind, item) for item in found]

    def get(self, task_id: str) -> InteractiveTask:
        """By its id, or by how it begins."""
        whole = task_id if _WHOLE_ID.fullmatch(task_id) else self._completed(task_id)
        return InteractiveTask(self._session, self._kind, {"id": whole}).reload()

    def _completed(self, beginning: str) -> str:
        ids = [task.id for task in self.list() if beginning and task.id.startswith(beginning)]
        if not ids:
            raise NotFound(f"{self._kind} not found: {beginning}. `list --all` shows all there are.")
        if len(ids) > 1:
            raise InvalidInput(f"{beginning!r} begins the ids of {len(ids)} {self._kind}s. Give more of it.")
        return ids[0]


def _flat(answer: dict[str, Any], kind: str) -> dict[str, Any]:
    """The message with its configuration, where one came beside it."""
    config = {"config": answer["config"]} if "config" in answer else {}
    return {**part(answer, kind), **config}
