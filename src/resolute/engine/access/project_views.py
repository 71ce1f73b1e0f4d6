"""Projects with what lists show beside them: a read model of four statements, however many projects there are."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from resolute.domain.errors import NotFound
from resolute.domain.user import User
from resolute.domain.workspace import Project, Workspace
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import ExperimentQuery, Page, PageRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectView:
    project: Project
    owner: User
    workspace: Workspace
    experiments: int = 0
    active_experiments: int = 0
    last_start: datetime | None = None
    """Of its newest experiment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectQuery:
    """Every filter that is set must match."""

    workspace_id: int | None = None
    visible_in: frozenset[int] | None = None
    """Workspaces that the caller may see; None: all."""
    name: str = ""
    """Whatever its case."""
    archived: bool | None = None
    """One in an archived workspace is archived too."""
    users: tuple[str, ...] = ()
    user_ids: tuple[int, ...] = ()
    by_name: bool = False
    descending: bool = False
    page: PageRequest = field(default_factory=PageRequest)

    def matches(self, view: ProjectView) -> bool:
        return (
            self.name.lower() in ("", view.project.name.lower())
            and self.archived in (None, view.project.is_archived or view.workspace.is_archived)
            and (not self.users or view.owner.username in self.users)
            and (not self.user_ids or view.owner.id in self.user_ids)
        )


def list_projects(platform: Platform, query: ProjectQuery) -> Page[ProjectView]:
    with platform.store.read() as tx:
        views = _views(tx, tx.workspaces.projects(query.workspace_id, visible_in=query.visible_in))
    found = [view for view in views if query.matches(view)]
    found.sort(key=lambda view: (view.project.name if query.by_name else "", view.project.id), reverse=query.descending)
    return query.page.cut(found)


def project_view(platform: Platform, project_id: int) -> ProjectView:
    """Raises NotFound."""
    with platform.store.read() as tx:
        return _views(tx, [tx.workspaces.project(project_id)])[0]


def project_by_key(platform: Platform, key: str) -> ProjectView:
    """Raises NotFound."""
    with platform.store.read() as tx:
        found = [project for project in tx.workspaces.projects() if project.key == key.upper()]
        if not found:
            raise NotFound(f"project not found: {key}")
        return _views(tx, found)[0]


def active_projects(
    platform: Platform, user: User, *, limit: int, visible_in: frozenset[int] | None = None
) -> list[ProjectView]:
    """Those with the newest experiments of `user` first."""
    query = ExperimentQuery(user_ids=(user.id,), visible_in=visible_in, sort_by="start_time", descending=True)
    with platform.store.read() as tx:
        found = tx.experiments.search(query).items
        ids = list(dict.fromkeys(summary.experiment.project_id for summary in found))[:limit]
        projects = {project.id: project for project in tx.workspaces.projects(visible_in=visible_in)}
        return _views(tx, [projects[project_id] for project_id in ids])


def _views(tx: Transaction, projects: Sequence[Project]) -> list[ProjectView]:
    if not projects:
        return []
    counts = tx.workspaces.project_counts()
    users = {user.id: user for user in tx.users.all()}
    workspaces = {workspace.id: workspace for workspace in tx.workspaces.all()}
    views = []
    for project in projects:
        experiments, active, last_start = counts.get(project.id, (0, 0, None))
        views.append(
            ProjectView(
                project=project,
                owner=users[project.user_id],
                workspace=workspaces[project.workspace_id],
                experiments=experiments,
                active_experiments=active,
                last_start=last_start,
            )
        )
    return views
