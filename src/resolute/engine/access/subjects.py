"""From the name of a parameter to what it is about: whose it is, and in which workspace. The one place that knows.

A parameter is one of a path (`{trial_id}`), of a query or of a body. Whatever a right is asked for is found here.
"""

from collections.abc import Callable, Mapping
from typing import Any

from resolute.domain.checkpoint import Checkpoint
from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.experiment import Experiment
from resolute.domain.rights import Permission, Subject
from resolute.domain.task import Task
from resolute.domain.trial import Trial
from resolute.engine.deployments.deployments import find_deployment
from resolute.engine.jobs.kinds import kind_of, owner_of
from resolute.engine.ports.database import Transaction
from resolute.engine.registry.datasets import find_dataset
from resolute.engine.registry.models import find_model

Beside = Mapping[str, Any]
"""Further parameters of the same request: a version, a namespace."""


def subject_of(tx: Transaction, parameter: str, value: Any, beside: Beside | None = None) -> Subject:
    """Raises NotFound for what is not there."""
    return SUBJECTS[parameter](tx, value, beside or {})


def _experiment(tx: Transaction, value: Any, beside: Beside) -> Subject:
    return _subject_of_experiment(tx, tx.experiments.get(_number(value)), f"experiment {value}")


def _trial(tx: Transaction, value: Any, beside: Beside) -> Subject:
    return _subject_of_trial(tx, tx.trials.get(_number(value)), f"trial {value}")


def _task(tx: Transaction, value: Any, beside: Beside) -> Subject:
    return _subject_of_task(tx, tx.tasks.get(value), f"task {value}")


def _allocation(tx: Transaction, value: Any, beside: Beside) -> Subject:
    return _subject_of_task(tx, tx.tasks.get(tx.allocations.get(value).task_id), f"allocation {value}")


def _job(tx: Transaction, value: Any, beside: Beside) -> Subject:
    try:
        job = tx.jobs.get(value)
    except NotFound:
        raise NotFound(f"job not found in the queue: {value}") from None
    return Subject(
        name=f"job {value}",
        missing=f"job not found in the queue: {value}",
        view=Permission.VIEW_EXPERIMENT_METADATA,
        workspace_id=job.workspace_id,
        owner_ids=frozenset({job.user_id}),
    )


def _checkpoint(tx: Transaction, value: Any, beside: Beside) -> Subject:
    return _subject_of_checkpoint(tx, tx.checkpoints.get(value))


def _workspace(tx: Transaction, value: Any, beside: Beside) -> Subject:
    workspace = tx.workspaces.get(_number(value))
    return Subject(
        name=f"workspace {workspace.name!r}",
        missing=f"workspace not found: {value}",
        view=Permission.VIEW_WORKSPACE,
        workspace_id=workspace.id,
        owner_ids=frozenset({workspace.user_id}),
    )


def _project(tx: Transaction, value: Any, beside: Beside) -> Subject:
    project = tx.workspaces.project(_number(value))
    return Subject(
        name=f"project {project.name!r}",
        missing=f"project not found: {value}",
        view=Permission.VIEW_PROJECT,
        workspace_id=project.workspace_id,
        owner_ids=frozenset({project.user_id}),
    )


def _project_key(tx: Transaction, value: Any, beside: Beside) -> Subject:
    for project in tx.workspaces.projects():
        if project.key == str(value).upper():
            return _project(tx, project.id, beside)
    raise NotFound(f"project not found: {value}")


def _template(tx: Transaction, value: Any, beside: Beside) -> Subject:
    return Subject(
        name=f"template {value!r}",
        missing=f"template not found: {value}",
        view=Permission.VIEW_TEMPLATES,
        workspace_id=tx.templates.get(value).workspace_id,
    )


def _model(tx: Transaction, value: Any, beside: Beside) -> Subject:
    """With a version's number beside it, whoever registered that version is an owner too."""
    model = find_model(tx, value)
    owners = {model.user_id}
    if "model_version_num" in beside:
        owners.add(tx.models.version(model.id, _number(beside["model_version_num"])).user_id)
    return Subject(
        name=f"model {model.name!r}",
        missing=f"model not found: {value}. `resolute model list` lists them.",
        view=Permission.VIEW_MODEL_REGISTRY,
        workspace_id=model.workspace_id,
        owner_ids=frozenset(owners),
    )


def _dataset(tx: Transaction, value: Any, beside: Beside) -> Subject:
    """The version that is named beside it, else the newest."""
    dataset = find_dataset(tx, value, beside.get("version") or "latest")
    return Subject(
        name=f"dataset {dataset.reference}",
        missing=f"dataset not found: {value}.",
        view=Permission.VIEW_DATASETS,
        workspace_id=dataset.workspace_id,
        owner_ids=frozenset({dataset.user_id}),
    )


def _deployment(tx: Transaction, value: Any, beside: Beside) -> Subject:
    deployment = find_deployment(tx, value, beside.get("namespace"))
    return Subject(
        name=f"deployment {deployment.name!r}",
        missing=f"deployment not found: {value}.",
        view=Permission.VIEW_DEPLOYMENTS,
        workspace_id=deployment.workspace_id,
        owner_ids=frozenset({deployment.user_id}),
    )


def _external_experiment(tx: Transaction, value: Any, beside: Beside) -> Subject:
    experiment = tx.experiments.by_external_id(value)
    if experiment is None:
        raise NotFound(f"experiment not found: {value}")
    return _subject_of_experiment(tx, experiment, f"experiment {value}")


def _number(value: Any) -> int:
    """As the route will read it, or not at all."""
    text = str(value)
    if not (text.isascii() and text.removeprefix("-").isdecimal()):
        raise InvalidInput(f"{text[:40]!r} is not a number. Give the id.")
    return int(text)


def _subject_of_experiment(tx: Transaction, experiment: Experiment, name: str) -> Subject:
    kind, _, value = name.partition(" ")
    return Subject(
        name=name,
        missing=f"{kind} not found: {value}",
        view=Permission.VIEW_EXPERIMENT_METADATA,
        workspace_id=tx.workspaces.project(experiment.project_id).workspace_id,
        owner_ids=frozenset({experiment.user_id}),
    )


def _subject_of_trial(tx: Transaction, trial: Trial, name: str) -> Subject:
    return _subject_of_experiment(tx, tx.experiments.get(trial.experiment_id), name)


def _subject_of_task(tx: Transaction, task: Task, name: str) -> Subject:
    kind, _, value = name.partition(" ")
    owner = owner_of(tx, task)
    return Subject(
        name=name,
        missing=f"{kind} not found: {value}",
        view=kind_of(task).view,
        workspace_id=owner.workspace_id,
        owner_ids=frozenset({owner.user_id}),
    )


def _subject_of_checkpoint(tx: Transaction, checkpoint: Checkpoint) -> Subject:
    name = f"checkpoint {checkpoint.uuid}"
    if checkpoint.trial_id is not None:
        return _subject_of_trial(tx, tx.trials.get(checkpoint.trial_id), name)
    return _subject_of_task(tx, tx.tasks.get(checkpoint.task_id or ""), name)


SUBJECTS: Mapping[str, Callable[[Transaction, Any, Beside], Subject]] = {
    "experiment_id": _experiment,
    "external_experiment_id": _external_experiment,
    "trial_id": _trial,
    "run_id": _trial,
    "task_id": _task,
    "allocation_id": _allocation,
    "job_id": _job,
    "checkpoint_uuid": _checkpoint,
    "workspace_id": _workspace,
    "project_id": _project,
    "project_key": _project_key,
    "template_name": _template,
    "model_name": _model,
    "dataset_name": _dataset,
    "deployment_name": _deployment,
}
NAMES_ALL_THERE_ARE = frozenset({"dataset_name", "deployment_name"})
"""Parameters whose NotFound tells which others there are: a help to those who may see all of them."""
