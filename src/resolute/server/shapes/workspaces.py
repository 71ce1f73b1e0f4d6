"""Workspaces, projects and templates as messages."""

from resolute.domain.template import Template
from resolute.domain.user import User
from resolute.domain.workspace import Workspace
from resolute.engine.access.project_views import ProjectView
from resolute.server.shapes.users import account_message
from resolute.spec.secrets import masked, masked_storage
from resolute.spec.wire import workspaces as wire


def workspace_message(workspace: Workspace, owner: User, counts: tuple[int, int]) -> wire.Workspace:
    projects, experiments = counts
    return wire.Workspace(
        id=workspace.id,
        name=workspace.name,
        archived=workspace.is_archived,
        username=owner.username,
        user_id=owner.id,
        immutable=workspace.is_immutable,
        num_projects=projects,
        num_experiments=experiments,
        pinned=workspace.is_pinned,
        agent_user_group=account_message(workspace.agent_account),
        checkpoint_storage_config=masked_storage(workspace.checkpoint_storage),
        default_compute_pool=workspace.default_compute_pool,
        default_aux_pool=workspace.default_aux_pool,
    )


def project_message(view: ProjectView) -> wire.Project:
    project, workspace, owner = view.project, view.workspace, view.owner
    return wire.Project(
        id=project.id,
        name=project.name,
        key=project.key,
        workspace_id=project.workspace_id,
        workspace_name=workspace.name,
        description=project.description,
        last_experiment_started_at=view.last_start,
        notes=[wire.Note.model_validate(note) for note in project.notes],
        num_experiments=view.experiments,
        num_runs=view.experiments,
        num_active_experiments=view.active_experiments,
        archived=project.is_archived or workspace.is_archived,
        username=owner.username,
        user_id=owner.id,
        immutable=project.is_immutable,
    )


def template_message(template: Template) -> wire.Template:
    return wire.Template(name=template.name, config=masked(template.config), workspace_id=template.workspace_id)
