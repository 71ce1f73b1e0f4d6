"""Workspaces, and the projects in them."""

from typing import Any

from resolute.client.resource import part
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
        return part(self._session.post("/api/v1/workspaces", {"name": name}), "workspace")

    def rename(self, name: str, new_name: str) -> Json:
        return part(self._session.patch(self._path(name), {"name": new_name}), "workspace")

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
        return part(self._session.get(f"/api/v1/projects/{project_id}"), "project")

    def create(self, workspace: str, name: str, *, description: str = "", key: str | None = None) -> Json:
        workspace_id = self._workspaces.get(workspace)["id"]
        body = {"name": name, "description": description, "workspaceId": workspace_id, "key": key}
        return part(self._session.post(f"/api/v1/workspaces/{workspace_id}/projects", body), "project")

    def update(self, workspace: str, name: str, /, **changes: Any) -> Json:
        project_id = self.get(workspace, name)["id"]
        return part(self._session.patch(f"/api/v1/projects/{project_id}", changes), "project")

    def set_archived(self, workspace: str, name: str, *, is_archived: bool) -> None:
        project_id = self.get(workspace, name)["id"]
        self._session.post(f"/api/v1/projects/{project_id}/{'archive' if is_archived else 'unarchive'}")

    def delete(self, workspace: str, name: str) -> None:
        self._session.delete(f"/api/v1/projects/{self.get(workspace, name)['id']}")
