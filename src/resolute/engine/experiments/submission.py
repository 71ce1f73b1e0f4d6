"""Experiments come to be: a configuration and files are checked, and only then stored; a finished one goes on."""

import functools
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from resolute.domain.checkpoint import CheckpointState
from resolute.domain.errors import IllegalTransition, InvalidConfig, InvalidInput, NotFound
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.job import DEFAULT_POOL, DEFAULT_PRIORITY, Job, JobKind
from resolute.domain.rights import Permission, Rights
from resolute.domain.trial import TrialState
from resolute.domain.user import User
from resolute.domain.workspace import Project
from resolute.engine.access.rights import require
from resolute.engine.experiments.configuration import configuration_of
from resolute.engine.experiments.earlier_results import earlier_results
from resolute.engine.experiments.searching import feed
from resolute.engine.jobs.environment import required_packages
from resolute.engine.jobs.pools import cluster_defaults, says_something, workspace_defaults
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.registry.datasets import dataset_references, resolve_config
from resolute.engine.trials.moves import enqueue
from resolute.engine.unit_of_work import Flow, flow
from resolute.search.events import CreateTrial, SearchStarted
from resolute.search.registry import extend_searcher, new_searcher
from resolute.search.searcher import Searcher
from resolute.search.space import with_constants
from resolute.spec.experiment import ExperimentConfig, ParsedExperiment, parse_experiment
from resolute.spec.searcher import SearcherBase
from resolute.spec.secrets import restored


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedExperiment:
    experiment: Experiment
    """With id 0 when it was only validated."""
    job: Job
    config: dict[str, object]
    """Resolved: as it is stored."""
    warnings: tuple[str, ...] = ()
    exceeds_slots: bool = False
    context: bytes | None = None
    """The model definition that it was checked with."""


def create_experiment(
    platform: Platform,
    *,
    user: User,
    config_text: str,
    context: bytes | None = None,
    activate: bool = True,
    validate_only: bool = False,
    template: str | None = None,
    project_id: int | None = None,
    parent_id: int | None = None,
    unmanaged: bool = False,
    external_id: str | None = None,
    overrides: Sequence[str] = (),
    rights: Rights | None = None,
) -> CreatedExperiment:
    """Check everything first; only then is anything stored. A fork without files of its own has its parent's.

    `rights`: of whoever submits it, for what the configuration names. None: nobody is asked.
    """
    if parent_id is not None and context is None:
        context = _context_of(platform, parent_id)
    parsed = _parse(platform, config_text, template=template, overrides=overrides, project_id=project_id, rights=rights)
    parsed = replace(parsed, resolved=restored(parsed.resolved, earlier=_config_of(platform, parent_id)))
    if not unmanaged:
        _check_runnable(parsed.config, context)
    with platform.store.read() as tx:
        project = _project_for(tx, parsed.config, project_id, rights)
        if rights is not None:
            require(tx, rights, Permission.CREATE_EXPERIMENT, "project_id", project.id)
            _check_sources(tx, rights, parsed)
        _check_start(tx, parsed.config.searcher)
        project.require_open(tx.workspaces.get(project.workspace_id))
        resolved, dataset_ids = resolve_config(tx, parsed.resolved)
    parsed = replace(parsed, resolved=resolved)
    state = ExperimentState.ACTIVE if activate or unmanaged else ExperimentState.PAUSED
    experiment = _new_experiment(platform, parsed, user, project, config_text, state)
    experiment = replace(experiment, parent_id=parent_id, unmanaged=unmanaged, external_id=external_id)
    job = _new_job(experiment, project)
    searcher = new_search(platform, parsed.config)
    if not validate_only:
        experiment = _store_experiment(platform, experiment, job, context, searcher.snapshot(), dataset_ids=dataset_ids)
    return CreatedExperiment(
        experiment=experiment,
        job=job,
        config=parsed.resolved,
        warnings=parsed.warnings,
        exceeds_slots=parsed.exceeds_slots,
        context=context,
    )


def _parse(
    platform: Platform,
    text: str,
    *,
    template: str | None,
    overrides: Sequence[str],
    project_id: int | None,
    rights: Rights | None,
) -> ParsedExperiment:
    """Completed with what its workspace says, where it names neither a pool nor a storage."""
    base = None
    if template:
        with platform.store.read() as tx:
            base = tx.templates.get(template).config
    parse = functools.partial(
        parse_experiment,
        text,
        template=base,
        overrides=overrides,
        seed=secrets.randbelow(2**31),
        name=f"experiment-{secrets.token_hex(3)}",
    )
    parsed = parse(defaults=cluster_defaults(platform))
    with platform.store.read() as tx:
        workspace = tx.workspaces.get(_project_for(tx, parsed.config, project_id, rights).workspace_id)
    if not says_something(workspace):
        return parsed
    # Only the configuration itself may say which workspace that is, so it is read twice.
    return parse(defaults=workspace_defaults(platform, workspace))


def _config_of(platform: Platform, experiment_id: int | None) -> dict[str, object] | None:
    if experiment_id is None:
        return None
    with platform.store.read() as tx:
        return tx.experiments.get(experiment_id).config


def _context_of(platform: Platform, experiment_id: int) -> bytes | None:
    with platform.store.read() as tx:
        context_id = tx.experiments.get(experiment_id).context_id
        return tx.contexts.get(context_id) if context_id else None


def new_search(platform: Platform, config: ExperimentConfig) -> Searcher:
    """A search that knows what the experiments named in `source_experiment_ids` found out."""
    searcher, space = config.searcher.resolved(), config.hyperparameters.resolved()
    seed = config.reproducibility.experiment_seed
    sources = config.searcher.source_experiment_ids
    if not sources:
        return new_searcher(searcher, space, seed)
    with platform.store.read() as tx:
        earlier = [result for source in sources for result in earlier_results(tx, source, searcher, space)]
    return extend_searcher(searcher, space, seed=seed, earlier=earlier)


def _check_runnable(config: ExperimentConfig, context: bytes | None) -> None:
    """What a trial will need and the configuration alone cannot show to be there."""
    if not config.entrypoint:
        raise InvalidConfig(["config: entrypoint: is missing; say what to run, for example: python3 train.py"])
    required_packages(config.environment, context)


def _project_for(tx: Transaction, config: ExperimentConfig, project_id: int | None, rights: Rights | None) -> Project:
    """By id, by the names in the configuration, or the place for uncategorised work."""
    if project_id:
        return tx.workspaces.project(project_id)
    workspace_name, project_name = config.workspace, config.project
    if not workspace_name and not project_name:
        return tx.workspaces.project(1)
    workspace = tx.workspaces.by_name(workspace_name) if workspace_name else tx.workspaces.get(1)
    visible = rights.workspaces(Permission.VIEW_WORKSPACE) if rights else None
    if workspace is None or not (visible is None or workspace.id in visible):
        known = ", ".join(sorted(w.name for w in tx.workspaces.all(visible_in=visible)))
        raise NotFound(
            f"workspace: there is no workspace {workspace_name!r}; create it with "
            f"`resolute workspace create {workspace_name!r}` or use one of: {known}."
        )
    projects = {p.name: p for p in tx.workspaces.projects(workspace.id)}
    if project_name not in projects:
        known = ", ".join(sorted(projects)) or "none yet"
        raise NotFound(
            f"project: workspace {workspace.name!r} has no project {project_name!r} (it has: {known}). Create it with "
            f"`resolute project create {workspace.name!r} {project_name!r}`."
        )
    return projects[project_name]


def _new_experiment(
    platform: Platform, parsed: ParsedExperiment, user: User, project: Project, text: str, state: ExperimentState
) -> Experiment:
    config, now = parsed.config, platform.clock()
    return Experiment(
        id=0,
        state=state,
        changed_at=now,
        start_time=now,
        config=parsed.resolved,
        original_config=text,
        user_id=user.id,
        project_id=project.id,
        job_id=str(uuid.uuid4()),
        name=config.name,
        description=config.description or "",
        labels=tuple(config.labels),
        warnings=parsed.warnings,
    )


def _new_job(experiment: Experiment, project: Project) -> Job:
    job = Job(
        id=experiment.job_id,
        kind=JobKind.EXPERIMENT,
        name=experiment.name,
        entity_id="",  # known when the experiment is stored
        user_id=experiment.user_id,
        workspace_id=project.workspace_id,
        submitted_at=experiment.start_time,
        queue_position=experiment.start_time.timestamp(),
    )
    return _configured(job, experiment)


def _configured(job: Job, experiment: Experiment) -> Job:
    """As the configuration of its experiment says."""
    resources = configuration_of(experiment).resources
    return replace(
        job,
        name=experiment.name,
        resource_pool=resources.resource_pool or DEFAULT_POOL,
        priority=resources.priority or DEFAULT_PRIORITY,
        weight=resources.weight,
        max_slots=resources.max_slots,
    )


def _store_experiment(
    platform: Platform,
    experiment: Experiment,
    job: Job,
    context: bytes | None,
    snapshot: dict[str, object],
    *,
    dataset_ids: Sequence[int],
) -> Experiment:
    with flow(platform) as current:
        if context:
            experiment = replace(experiment, context_id=current.tx.contexts.put(context))
        experiment = current.add(experiment)
        current.tx.jobs.add(replace(job, entity_id=str(experiment.id)))
        _link_datasets(current.tx, experiment.id, dataset_ids)
        if not experiment.unmanaged:
            current.tx.experiments.save_searcher_snapshot(experiment.id, snapshot)
            experiment = feed(current, experiment, SearchStarted())
        current.publish("engine")
    return experiment


def _link_datasets(tx: Transaction, experiment_id: int, dataset_ids: Sequence[int]) -> None:
    for dataset_id in dataset_ids:
        # Raises NotFound for one that was deleted since it was looked up.
        tx.datasets.link(experiment_id, tx.datasets.get(dataset_id).id)


def _check_sources(tx: Transaction, rights: Rights, parsed: ParsedExperiment) -> None:
    """Whatever a configuration names must be open to whoever submits it."""
    for name, version in dataset_references(parsed.resolved):
        require(tx, rights, Permission.VIEW_DATASETS, "dataset_name", name, {"version": version})
    searcher = parsed.config.searcher
    for source in searcher.source_experiment_ids:
        require(tx, rights, Permission.VIEW_EXPERIMENT_METADATA, "experiment_id", source)
    artifacts = Permission.VIEW_EXPERIMENT_ARTIFACTS
    if searcher.source_checkpoint_uuid is not None:
        require(tx, rights, artifacts, "checkpoint_uuid", searcher.source_checkpoint_uuid)
    if searcher.source_trial_id is not None:
        require(tx, rights, artifacts, "trial_id", searcher.source_trial_id)


def _check_start(tx: Transaction, searcher: SearcherBase) -> None:
    """What trials are to begin with has to be there when they are submitted; later it may go."""
    uuid, trial_id = searcher.source_checkpoint_uuid, searcher.source_trial_id
    try:
        if trial_id is not None:
            tx.trials.get(trial_id)
        if uuid is not None and tx.checkpoints.get(uuid).state is CheckpointState.DELETED:
            raise InvalidConfig(
                [f"config: searcher.source_checkpoint_uuid: checkpoint {uuid} was deleted; name another"]
            )
    except NotFound as problem:
        key = "source_trial_id" if uuid is None else "source_checkpoint_uuid"
        raise InvalidConfig([f"config: searcher.{key}: {problem}; name one that is there"]) from None


def continue_experiment(
    platform: Platform, experiment_id: int, override_config: str = "", *, rights: Rights | None = None
) -> CreatedExperiment:
    """Train a finished experiment further: a longer length, more trials, or another try after a failure.

    Trials go on from their latest checkpoints; a search that may now make more trials does so.
    """
    with platform.store.read() as tx:
        experiment = tx.experiments.get(experiment_id)
        snapshot = tx.experiments.searcher_snapshot(experiment_id)
    if not experiment.is_finished or snapshot is None:
        raise IllegalTransition(f"Experiment {experiment_id} is {experiment.state}; only a finished one can go on.")
    parsed = _parse_continued(platform, experiment, override_config)
    parsed = replace(parsed, resolved=restored(parsed.resolved, earlier=experiment.config))
    with platform.store.read() as tx:
        if rights is not None:
            _check_sources(tx, rights, parsed)
        project = tx.workspaces.project(experiment.project_id)
        project.require_open(tx.workspaces.get(project.workspace_id))
        resolved, dataset_ids = resolve_config(tx, parsed.resolved)
    parsed = replace(parsed, resolved=resolved)
    searcher = extend_searcher(parsed.config.searcher.resolved(), parsed.config.hyperparameters.resolved(), snapshot)
    with flow(platform) as current:
        moved = replace(
            experiment.moved_to(ExperimentState.ACTIVE, now=current.now), config=parsed.resolved, progress=0.0
        )
        current.move(experiment, moved, reason="continued")
        job = current.tx.jobs.get(moved.job_id)
        job = current.change(job, _configured(job, moved))
        _link_datasets(current.tx, experiment_id, dataset_ids)
        current.tx.experiments.save_searcher_snapshot(experiment_id, searcher.snapshot())
        _wake_trials(current, moved, parsed.config)
        moved = feed(current, moved, SearchStarted())
        if moved.state is not ExperimentState.ACTIVE:
            raise _nothing_left(experiment_id, parsed.config.searcher)
        current.publish("engine")
    return CreatedExperiment(
        experiment=moved,
        job=job,
        config=parsed.resolved,
        warnings=parsed.warnings,
        exceeds_slots=parsed.exceeds_slots,
    )


def _parse_continued(platform: Platform, experiment: Experiment, override_config: str) -> ParsedExperiment:
    return parse_experiment(
        override_config or "{}",
        filename="override",
        template=experiment.config,
        defaults=cluster_defaults(platform),
        seed=configuration_of(experiment).reproducibility.experiment_seed,
        name=experiment.name,
    )


def _nothing_left(experiment_id: int, searcher: SearcherBase) -> InvalidInput:
    done = f"Experiment {experiment_id} has nothing left to train: all its trials are done"
    most = getattr(searcher, "max_trials", None)
    if most is None:
        return InvalidInput(f"{done}, and its searcher, {searcher.name}, makes no more. Fork it with another space.")
    return InvalidInput(
        f"{done}, and searcher.max_trials is {most}. Ask for more, for example --config searcher.max_trials={2 * most}."
    )


def _wake_trials(current: Flow, experiment: Experiment, config: ExperimentConfig) -> None:
    """Those that did not get to their end; of a single trial also one that did, since it may now be given a new one.

    What the configuration now says of hyperparameters reaches them."""
    is_single = experiment.searcher_name == "single"
    space, drawn = config.hyperparameters.resolved(), _drawn_anew(config) if is_single else {}
    for trial in current.tx.trials.of_experiment(experiment.id):
        if not trial.is_finished or (trial.state is TrialState.COMPLETED and not is_single):
            continue
        hparams = drawn or with_constants(space, trial.hparams)
        awake = replace(
            trial.moved_to(TrialState.ACTIVE, now=current.now),
            hparams=hparams,
            restarts=0,
            exit_reason="",
            early_exit=None,
        )
        current.move(trial, awake, reason="The experiment goes on.")
        task = current.tx.tasks.get(trial.task_id)
        current.tx.tasks.save(replace(task, end_time=None))
        enqueue(current, experiment, awake)


def _drawn_anew(config: ExperimentConfig) -> dict[str, object]:
    """What the one trial of a search with this space and seed is given."""
    searcher, space = config.searcher.resolved(), config.hyperparameters.resolved()
    outcome = new_searcher(searcher, space, config.reproducibility.experiment_seed).handle(SearchStarted())
    return next((action.hparams for action in outcome.actions if isinstance(action, CreateTrial)), {})
