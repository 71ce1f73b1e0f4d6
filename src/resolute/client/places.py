"""Where work is kept and who does it: workspaces, projects, templates, users."""

from typing import Any
from urllib.parse import quote

from resolute.client.identity import hashed
from resolute.client.session import Session
from resolute.domain.errors import NotFound

Json = dict[str, Any]


class Workspaces:
    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self, *, name: str | None = None) -> list[Json]:
        return list(self._session.pages("/api/v1/workspaces", "workspaces", name=name))

    def get(self, name: str) -> Json:
        """By its name, or by its number."""
        for workspace in self.all():
            if workspace["name"] == name or str(workspace["id"]) == name:
                return workspace
        raise NotFound(f"Workspace {name!r} does not exist. See: resolute workspace list")

    def create(self, name: str) -> Json:
        return _part(self._session.post("/api/v1/workspaces", {"name": name}), "workspace")

    def rename(self, name: str, new_name: str) -> Json:
        return _part(self._session.patch(self._path(name), {"name": new_name}), "workspace")

    def set_archived(self, name: str, *, is_archived: bool) -> None:
        self._session.post(f"{self._path(name)}/{'archive' if is_archived else 'unarchive'}")

    def delete(self, name: str) -> None:
        self._session.delete(self._path(name))

    def projects(self, name: str) -> list[Json]:
        return list(self._session.pages(f"{self._path(name)}/projects", "projects"))

    def _path(self, name: str) -> str:
        return f"/api/v1/workspaces/{self.get(name)['id']}"


class Projects:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._workspaces = Workspaces(session)

    def get(self, workspace: str, name: str) -> Json:
        for project in self._workspaces.projects(workspace):
            if project["name"] == name:
                return project
        raise NotFound(
            f"Project {name!r} does not exist in workspace {workspace!r}. See: resolute project list {workspace}"
        )

    def by_id(self, project_id: int) -> Json:
        return _part(self._session.get(f"/api/v1/projects/{project_id}"), "project")

    def create(self, workspace: str, name: str, *, description: str = "", key: str | None = None) -> Json:
        workspace_id = self._workspaces.get(workspace)["id"]
        body = {"name": name, "description": description, "workspaceId": workspace_id, "key": key}
        return _part(self._session.post(f"/api/v1/workspaces/{workspace_id}/projects", body), "project")

    def update(self, workspace: str, name: str, /, **changes: Any) -> Json:
        project_id = self.get(workspace, name)["id"]
        return _part(self._session.patch(f"/api/v1/projects/{project_id}", changes), "project")

    def set_archived(self, workspace: str, name: str, *, is_archived: bool) -> None:
        project_id = self.get(workspace, name)["id"]
        self._session.post(f"/api/v1/projects/{project_id}/{'archive' if is_archived else 'unarchive'}")

    def delete(self, workspace: str, name: str) -> None:
        self._session.delete(f"/api/v1/projects/{self.get(workspace, name)['id']}")


class Templates:
    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self) -> list[Json]:
        return list(self._session.pages("/api/v1/templates", "templates"))

    def get(self, name: str) -> Json:
        return _part(self._session.get(self._path(name)), "template")

    def create(self, name: str, config: Json, *, workspace_id: int = 1) -> Json:
        body = {"name": name, "config": config, "workspaceId": workspace_id}
        return _part(self._session.post(self._path(name), body), "template")

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


class Users:
    def __init__(self, session: Session) -> None:
        self._session = session

    def me(self) -> Json:
        return _part(self._session.get("/api/v1/me"), "user")

    def all(self) -> list[Json]:
        return list(self._session.pages("/api/v1/users", "users"))

    def get(self, username: str) -> Json:
        return _part(self._session.get(f"/api/v1/users/{quote(username, safe='')}/by-username"), "user")

    def create(self, username: str, *, password: str = "", is_admin: bool = False) -> Json:
        user = {"username": username, "admin": is_admin, "active": True, "remote": False}
        body = {"user": user, "password": hashed(password), "isHashed": True}
        return _part(self._session.post("/api/v1/users", body), "user")

    def update(self, username: str, /, **changes: Any) -> Json:
        return _part(self._session.patch(f"/api/v1/users/{self.get(username)['id']}", changes), "user")

    def set_password(self, username: str, password: str) -> None:
        self.update(username, password=hashed(password), isHashed=True)


def _part(answer: Json, key: str) -> Json:
    """The message itself, however the master wrapped it."""
    inner = answer.get(key)
    return inner if isinstance(inner, dict) else answer
