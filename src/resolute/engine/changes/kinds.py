"""The table of kinds: for each kind of thing how it is stored, saved and removed, its state, its topics, its workspace.

A new kind of thing that is remembered is one more row here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from resolute.domain.allocation import Allocation
from resolute.domain.checkpoint import Checkpoint
from resolute.domain.dataset import DatasetVersion
from resolute.domain.deployment import Deployment, Revision
from resolute.domain.experiment import Experiment
from resolute.domain.job import Job
from resolute.domain.model import Model, ModelVersion
from resolute.domain.rights import Group, RoleAssignment
from resolute.domain.template import Template
from resolute.domain.trial import Trial
from resolute.domain.user import Session, User
from resolute.domain.workspace import Project, Workspace
from resolute.engine.ports.database import Transaction

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[T]):
    name: str
    of: type[T]
    add: Callable[[Transaction, T], T]
    """Stores it; returns it with its id."""
    save: Callable[[Transaction, T, Any], bool]
    """Compare-and-set on the state, where it has one. False: another writer was first, or it is gone."""
    remove: Callable[[Transaction, T], object] | None = None
    id: Callable[[T], str] = lambda thing: str(thing.id)  # type: ignore[attr-defined]
    state: Callable[[T], Any] = lambda thing: ""
    """An enum member or text; empty for a thing without states."""
    topics: Callable[[T], tuple[str, ...]]
    """Of the bus: who shows or waits for such a thing listens to these."""
    workspace: Callable[[Transaction, T], int | None] = lambda tx, thing: None
    about: tuple[str, ...] = ()
    """Fields that every change of it tells."""
    shown: tuple[str, ...] = ()
    """Fields whose old and new value a change tells. Of others it tells the name: they are large, or secret."""


def _stored(save: Callable[[], object]) -> bool:
    """For things without a state: `save` raises NotFound when the thing is gone."""
    save()
    return True


def _unchanged(put: object, thing: T) -> T:
    """What comes back from storing a thing that brings its own id."""
    return thing


def _job_topics(trial_id: int | None) -> tuple[str, ...]:
    return () if trial_id is None else (f"trial/{trial_id}",)


EXPERIMENT = Kind(
    name="experiment",
    of=Experiment,
    add=lambda tx, e: tx.experiments.add(e, searcher_snapshot=None),
    save=lambda tx, e, expected: tx.experiments.save(e, expected=expected),
    remove=lambda tx, e: tx.experiments.remove(e.id),
    state=lambda e: e.state,
    topics=lambda e: (f"experiment/{e.id}", "experiments"),
    workspace=lambda tx, e: tx.workspaces.of_project(e.project_id),
    about=("name",),
    shown=("name", "archived", "project_id", "labels"),
)
TRIAL = Kind(
    name="trial",
    of=Trial,
    add=lambda tx, t: tx.trials.add(t),
    save=lambda tx, t, expected: tx.trials.save(t, expected=expected),
    state=lambda t: t.state,
    topics=lambda t: (f"trial/{t.id}", f"experiment/{t.experiment_id}"),
    workspace=lambda tx, t: tx.workspaces.of_experiment(t.experiment_id),
    about=("experiment_id",),
    shown=("excluded_nodes", "log_policy_matched"),
)
JOB = Kind(
    name="job",
    of=Job,
    add=lambda tx, j: _unchanged(tx.jobs.add(j), j),  # type: ignore[func-returns-value]
    save=lambda tx, j, expected: _stored(lambda: tx.jobs.save(j)),
    remove=lambda tx, j: tx.jobs.remove(j.id),
    id=lambda j: j.id,
    topics=lambda j: ("queue",),
    workspace=lambda tx, j: j.workspace_id,
    about=("kind", "entity_id", "name"),
    shown=("priority", "weight", "max_slots", "resource_pool", "queue_position", "workspace_id", "name"),
)
ALLOCATION = Kind(
    name="allocation",
    of=Allocation,
    add=lambda tx, a: _unchanged(tx.allocations.add(a), a),  # type: ignore[func-returns-value]
    save=lambda tx, a, expected: tx.allocations.save(a, expected=expected),
    id=lambda a: a.id,
    state=lambda a: a.state,
    topics=lambda a: (f"allocation/{a.id}", f"task/{a.task_id}", "queue", *_job_topics(a.trial_id)),
    workspace=lambda tx, a: tx.workspaces.of_job(a.job_id),
    about=("task_id", "trial_id", "exit_code", "exit_reason"),
    shown=("resource_pool",),
)
CHECKPOINT = Kind(
    name="checkpoint",
    of=Checkpoint,
    add=lambda tx, c: _unchanged(tx.checkpoints.add(c), c),
    save=lambda tx, c, expected: tx.checkpoints.save(c, expected=expected),
    id=lambda c: c.uuid,
    state=lambda c: c.state,
    topics=lambda c: (
        *_job_topics(c.trial_id),
        *(() if c.experiment_id is None else (f"experiment/{c.experiment_id}",)),
    ),
    workspace=lambda tx, c: None if c.experiment_id is None else tx.workspaces.of_experiment(c.experiment_id),
    about=("experiment_id", "trial_id", "steps_completed"),
)
DEPLOYMENT = Kind(
    name="deployment",
    of=Deployment,
    add=lambda tx, d: tx.deployments.add(d),
    save=lambda tx, d, expected: _stored(lambda: tx.deployments.save(d)),
    remove=lambda tx, d: tx.deployments.remove(d.id),
    state=lambda d: "DELETING" if d.is_deleted else "ACTIVE",
    topics=lambda d: (f"deployment/{d.name}", "deployments"),
    workspace=lambda tx, d: d.workspace_id,
    about=("name", "namespace"),
    shown=("stable", "previous", "canary", "canary_percent", "shadow", "shadow_percent", "sticky", "public"),
)
REVISION = Kind(
    name="revision",
    of=Revision,
    add=lambda tx, r: tx.deployments.add_revision(r),
    save=lambda tx, r, expected: tx.deployments.save_revision(r, expected=expected),
    state=lambda r: r.state,
    topics=lambda r: ("deployments",),
    workspace=lambda tx, r: tx.deployments.get(r.deployment_id).workspace_id,
    about=("deployment_id", "number", "source"),
    shown=("replicas_wanted",),
)
MODEL = Kind(
    name="model",
    of=Model,
    add=lambda tx, m: tx.models.add(m),
    save=lambda tx, m, expected: _stored(lambda: tx.models.save(m)),
    remove=lambda tx, m: tx.models.remove(m.id),
    topics=lambda m: ("models",),
    workspace=lambda tx, m: m.workspace_id,
    about=("name",),
    shown=("name", "archived", "workspace_id", "labels"),
)
MODEL_VERSION = Kind(
    name="model_version",
    of=ModelVersion,
    add=lambda tx, v: tx.models.add_version(v),
    save=lambda tx, v, expected: tx.models.save_version(v, expected=expected),
    remove=lambda tx, v: tx.models.remove_version(v.id),
    state=lambda v: v.stage,
    topics=lambda v: ("models",),
    workspace=lambda tx, v: tx.models.get(v.model_id).workspace_id,
    about=("model_id", "version", "checkpoint_uuid"),
    shown=("name", "labels"),
)
DATASET = Kind(
    name="dataset",
    of=DatasetVersion,
    add=lambda tx, d: tx.datasets.add(d),
    save=lambda tx, d, expected: _stored(lambda: tx.datasets.save(d)),
    remove=lambda tx, d: tx.datasets.remove(d.id),
    topics=lambda d: ("datasets",),
    workspace=lambda tx, d: d.workspace_id,
    about=("name", "version"),
)
TEMPLATE = Kind(
    name="template",
    of=Template,
    add=lambda tx, t: _unchanged(tx.templates.put(t), t),  # type: ignore[func-returns-value]
    save=lambda tx, t, expected: _stored(lambda: tx.templates.put(t)),
    remove=lambda tx, t: tx.templates.remove(t.name),
    id=lambda t: t.name,
    topics=lambda t: ("templates",),
    workspace=lambda tx, t: t.workspace_id,
)
WORKSPACE = Kind(
    name="workspace",
    of=Workspace,
    add=lambda tx, w: tx.workspaces.add(w),
    save=lambda tx, w, expected: _stored(lambda: tx.workspaces.save(w)),
    remove=lambda tx, w: tx.workspaces.remove(w.id),
    topics=lambda w: ("workspaces",),
    workspace=lambda tx, w: w.id,
    about=("name",),
    shown=("name", "is_archived", "is_pinned", "agent_account"),
)
PROJECT = Kind(
    name="project",
    of=Project,
    add=lambda tx, p: tx.workspaces.add_project(p),
    save=lambda tx, p, expected: _stored(lambda: tx.workspaces.save_project(p)),
    remove=lambda tx, p: tx.workspaces.remove_project(p.id),
    topics=lambda p: ("workspaces",),
    workspace=lambda tx, p: p.workspace_id,
    about=("name",),
    shown=("name", "key", "is_archived", "workspace_id"),
)
USER = Kind(
    name="user",
    of=User,
    add=lambda tx, u: tx.users.add(u),
    save=lambda tx, u, expected: _stored(lambda: tx.users.save(u)),
    topics=lambda u: ("users",),
    about=("username",),
    shown=("username", "display_name", "is_admin", "is_active", "is_remote", "agent_account"),
)
GROUP = Kind(
    name="group",
    of=Group,
    add=lambda tx, g: tx.rights.add_group(g),
    save=lambda tx, g, expected: _stored(lambda: tx.rights.save_group(g)),
    remove=lambda tx, g: tx.rights.remove_group(g.id),
    topics=lambda g: ("rights",),
    about=("name",),
    shown=("name",),
)
ROLE_ASSIGNMENT = Kind(
    name="role_assignment",
    of=RoleAssignment,
    add=lambda tx, a: tx.rights.add_assignment(a),
    save=lambda tx, a, expected: False,
    remove=lambda tx, a: tx.rights.remove_assignment(a.id),
    topics=lambda a: ("rights",),
    workspace=lambda tx, a: a.workspace_id,
    about=("role", "user_id", "group_id"),
)
ACCESS_TOKEN = Kind(
    name="access_token",
    of=Session,
    add=lambda tx, s: tx.users.add_session(s),
    save=lambda tx, s, expected: _stored(lambda: tx.users.save_session(s)),
    topics=lambda s: ("users",),
    about=("user_id", "description"),
    shown=("description", "is_revoked"),
)

_KINDS: tuple[Kind[Any], ...] = (
    EXPERIMENT,
    TRIAL,
    JOB,
    ALLOCATION,
    CHECKPOINT,
    DEPLOYMENT,
    REVISION,
    MODEL,
    MODEL_VERSION,
    DATASET,
    TEMPLATE,
    WORKSPACE,
    PROJECT,
    USER,
    GROUP,
    ROLE_ASSIGNMENT,
    ACCESS_TOKEN,
)
KINDS: dict[type, Kind[Any]] = {kind.of: kind for kind in _KINDS}


def kind_of(thing: T) -> Kind[T]:
    return KINDS[type(thing)]
