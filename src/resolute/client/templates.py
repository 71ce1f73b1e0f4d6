"""Templates: parts of a configuration under a name."""

from typing import Any
from urllib.parse import quote

from resolute.client.resource import part
from resolute.client.session import Session

Json = dict[str, Any]


class Templates:
    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self) -> list[Json]:
        return list(self._session.pages("/api/v1/templates", "templates"))

    def get(self, name: str) -> Json:
        return part(self._session.get(self._path(name)), "template")

    def create(self, name: str, config: Json, *, workspace_id: int = 1) -> Json:
        body = {"name": name, "config": config, "workspaceId": workspace_id}
        return part(self._session.post(self._path(name), body), "template")

    def set_config(self, name: str, config: Json) -> None:
        self._session.patch(self._path(name), config)

    def put(self, name: str, config: Json, *, workspace_id: int = 1) -> None:
        """Create it, or replace its config."""
        self._session.put(self._path(name), {"name": name, "config": config, "workspaceId": workspace_id})

    def rename(self, name: str, new_name: str) -> None:
        self._session.patch("/api/v1/template/rename", {"oldName": name, "newName": new_name})

    def remove(self, name: str) -> None:
        self._session.delete(self._path(name))

    def _path(self, name: str) -> str:
        return f"/api/v1/templates/{quote(name, safe='')}"
