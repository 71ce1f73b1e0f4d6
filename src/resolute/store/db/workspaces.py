"""Workspaces and their projects."""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, case, delete, func, select

from resolute.domain.errors import AlreadyExists, NotFound
from resolute.domain.experiment import ExperimentState
from resolute.domain.workspace import Project, Workspace
from resolute.store.db import tables
from resolute.store.db.hot import HotStatement
from resolute.store.db.rows import Rows

_rows = Rows(tables.workspaces, Workspace)
_projects = Rows(tables.projects, Project)
_t, _p, _e = tables.workspaces.c, tables.projects.c, tables.experiments.c
# Asked at every change of a trial.
_OF_PROJECT = HotStatement("SELECT workspace_id FROM projects WHERE id = :id")
_OF_EXPERIMENT = HotStatement(
    "SELECT p.workspace_id FROM experiments e JOIN projects p ON p.id = e.project_id WHERE e.id = :id"
)
_OF_JOB = HotStatement("SELECT workspace_id FROM jobs WHERE id = :id")


class WorkspaceTable:
    """`engine.ports.database.Workspaces`. Names are unique: of workspaces everywhere, of projects in their own."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, workspace: Workspace) -> Workspace:
        self._refuse_taken_name(workspace)
        return replace(workspace, id=_rows.add(self._connection, workspace))

    def get(self, workspace_id: int) -> Workspace:
        workspace = _rows.get(self._connection, workspace_id)
        if workspace is None:
            raise NotFound(f"workspace not found: {workspace_id}")
        return workspace

    def by_name(self, name: str) -> Workspace | None:
        return _rows.first(self._connection, _rows.select().where(_t.name == name))

    def save(self, workspace: Workspace) -> None:
        self._refuse_taken_name(workspace)
        if not _rows.save(self._connection, workspace):
            raise NotFound(f"workspace not found: {workspace.id}")

    def all(self, *, visible_in: frozenset[int] | None = None) -> list[Workspace]:
        statement = _rows.select().order_by(_t.id)
        if visible_in is not None:
            statement = statement.where(_t.id.in_(visible_in))
        return _rows.all(self._connection, statement)

    def remove(self, workspace_id: int) -> None:
        assignments = tables.role_assignments
        self._connection.execute(delete(assignments).where(assignments.c.workspace_id == workspace_id))
        self._connection.execute(delete(tables.projects).where(_p.workspace_id == workspace_id))
        self._connection.execute(delete(tables.workspaces).where(_t.id == workspace_id))

    def of_project(self, project_id: int) -> int | None:
        return self._workspace(_OF_PROJECT, project_id)

    def of_experiment(self, experiment_id: int) -> int | None:
        return self._workspace(_OF_EXPERIMENT, experiment_id)

    def of_job(self, job_id: str) -> int | None:
        return self._workspace(_OF_JOB, job_id)

    def counts(self) -> dict[int, tuple[int, int]]:
        statement = (
            select(_t.id, func.count(_p.id.distinct()), func.count(_e.id))
            .select_from(tables.workspaces)
            .outerjoin(tables.projects, _p.workspace_id == _t.id)
            .outerjoin(tables.experiments, _e.project_id == _p.id)
            .group_by(_t.id)
        )
        return {key: (projects, experiments) for key, projects, experiments in self._connection.execute(statement)}

    def add_project(self, project: Project) -> Project:
        self._refuse_taken_project_name(project)
        return replace(project, id=_projects.add(self._connection, project))

    def project(self, project_id: int) -> Project:
        project = _projects.get(self._connection, project_id)
        if project is None:
            raise NotFound(f"project not found: {project_id}")
        return project

    def save_project(self, project: Project) -> None:
        self._refuse_taken_project_name(project)
        if not _projects.save(self._connection, project):
            raise NotFound(f"project not found: {project.id}")

    def projects(self, workspace_id: int | None = None, *, visible_in: frozenset[int] | None = None) -> list[Project]:
        statement = _projects.select().order_by(_p.id)
        if workspace_id is not None:
            statement = statement.where(_p.workspace_id == workspace_id)
        if visible_in is not None:
            statement = statement.where(_p.workspace_id.in_(visible_in))
        return _projects.all(self._connection, statement)

    def remove_project(self, project_id: int) -> None:
        self._connection.execute(delete(tables.projects).where(_p.id == project_id))

    def project_counts(self) -> dict[int, tuple[int, int, datetime | None]]:
        is_active = case((_e.state == ExperimentState.ACTIVE, 1), else_=0)
        statement = (
            select(_p.id, func.count(_e.id), func.coalesce(func.sum(is_active), 0), func.max(_e.start_time))
            .select_from(tables.projects)
            .outerjoin(tables.experiments, _e.project_id == _p.id)
            .group_by(_p.id)
        )
        rows = self._connection.execute(statement)
        return {key: (count, int(active), last) for key, count, active, last in rows}

    def _workspace(self, statement: HotStatement, key: int | str) -> int | None:
        row = statement.first(self._connection, {"id": key})
        return None if row is None else int(row[0])

    def _refuse_taken_name(self, workspace: Workspace) -> None:
        holder = self.by_name(workspace.name)
        if holder is not None and holder.id != workspace.id:
            raise AlreadyExists(f"workspace {workspace.name!r} exists already. Choose another name.")

    def _refuse_taken_project_name(self, project: Project) -> None:
        same = _projects.select().where(_p.workspace_id == project.workspace_id, _p.name == project.name)
        holder = _projects.first(self._connection, same)
        if holder is not None and holder.id != project.id:
            raise AlreadyExists(
                f"project {project.name!r} exists already in workspace {project.workspace_id}. Choose another name."
            )
