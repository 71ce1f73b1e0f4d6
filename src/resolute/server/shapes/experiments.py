"""Experiments as messages."""

from datetime import datetime

from resolute.domain.experiment import Experiment
from resolute.domain.job import Job
from resolute.domain.user import User
from resolute.domain.workspace import Project, Workspace
from resolute.engine.ports.queries import ExperimentSummary
from resolute.server.shapes.states import experiment_state
from resolute.spec.secrets import masked, masked_text
from resolute.spec.wire import experiments as wire


def experiment_message(
    summary: ExperimentSummary, *, now: datetime, trial_ids: list[int] | None = None
) -> wire.Experiment:
    experiment = summary.experiment
    return wire.Experiment(
        id=experiment.id,
        name=experiment.name,
        description=experiment.description,
        labels=list(experiment.labels),
        notes=experiment.notes,
        state=experiment_state(summary),
        start_time=experiment.start_time,
        end_time=experiment.end_time,
        duration=int(((experiment.end_time or now) - experiment.start_time).total_seconds()),
        archived=experiment.archived,
        num_trials=summary.num_trials,
        trial_ids=trial_ids or [],
        display_name=summary.display_name,
        username=summary.username,
        user_id=experiment.user_id,
        progress=experiment.progress,
        job_id=experiment.job_id,
        resource_pool=summary.resource_pool,
        searcher_type=experiment.searcher_name,
        # Of several objectives the first: what the best trial and its value below are told by.
        searcher_metric=experiment.searcher_metric or None,
        hyperparameters=dict(experiment.hyperparameters),
        forked_from=experiment.parent_id,
        project_id=experiment.project_id,
        project_name=summary.project_name,
        project_owner_id=summary.project_user_id,
        workspace_id=summary.workspace_id,
        workspace_name=summary.workspace_name,
        parent_archived=summary.is_parent_archived,
        config=masked(experiment.config),
        original_config=masked_text(experiment.original_config, experiment.config),
        checkpoint_size=summary.checkpoint_size,
        checkpoint_count=summary.checkpoint_count,
        best_trial_id=summary.best_trial_id,
        best_trial_searcher_metric=summary.best_metric,
        unmanaged=experiment.unmanaged,
        pachyderm_integration=_pachyderm(experiment),
        external_experiment_id=experiment.external_id,
        smaller_is_better=experiment.smaller_is_better,
        warnings=list(experiment.warnings),
    )


def _pachyderm(experiment: Experiment) -> dict[str, object] | None:
    """As configured; this platform itself asks no Pachyderm."""
    integrations = masked(experiment.config).get("integrations")
    found = integrations.get("pachyderm") if isinstance(integrations, dict) else None
    return found if isinstance(found, dict) else None


def unsaved_summary(
    experiment: Experiment, job: Job, user: User, project: Project, workspace: Workspace
) -> ExperimentSummary:
    """For an experiment that was only checked, never stored."""
    return ExperimentSummary(
        experiment=experiment,
        username=user.username,
        display_name=user.display_name,
        project_name=project.name,
        project_user_id=project.user_id,
        workspace_id=workspace.id,
        workspace_name=workspace.name,
        resource_pool=job.resource_pool,
    )
