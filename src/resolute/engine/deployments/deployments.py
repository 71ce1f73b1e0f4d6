"""What people do with deployments: create, update, canary, promote, roll back, pin, shadow, scale, delete.

Each writes down what is wanted, in one transaction; `engine.rollouts` makes it so. Bad input is refused before anything
is written.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from resolute.domain.deployment import Deployment, Guard, Revision, RevisionState, Scaling, Serving
from resolute.domain.errors import AlreadyExists, IllegalTransition, InvalidInput, NotFound
from resolute.domain.job import Job, JobKind
from resolute.domain.rollout import candidate_of
from resolute.engine.deployments.models import FoundModel, SourceSpec, find_model
from resolute.engine.jobs.fencing import secret_of
from resolute.engine.jobs.pools import find_pool
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.unit_of_work import Flow, flow

ServingOf = Callable[[Serving], Serving]
"""A revision's settings, made from those of the stable one."""


# ------------------------------------------------------------------------------------------------------- creating


def create_deployment(
    platform: Platform,
    *,
    name: str,
    namespace: str,
    user_id: int,
    workspace_id: int,
    source: SourceSpec,
    serving: ServingOf,
    scaling: Scaling,
    guard: Guard,
    sticky: str,
    public: bool,
    replace_existing: bool = False,
) -> tuple[Deployment, str]:
    """The deployment and its key. With `replace_existing` one of that name is updated to this model instead."""
    with flow(platform) as current:
        tx = current.tx
        existing = tx.deployments.find(name, namespace)
        if existing is not None and (existing.is_deleted or not replace_existing):
            raise AlreadyExists(_taken(existing))
        tx.workspaces.get(workspace_id).require_open()
        found = find_model(tx, source)
        _check_slots(platform, serving(Serving()))
        if existing is None:
            made = current.add(
                Deployment(
                    id=0,
                    name=name,
                    namespace=namespace,
                    user_id=user_id,
                    workspace_id=workspace_id,
                    created_at=current.now,
                    updated_at=current.now,
                    scaling=scaling,
                    guard=guard,
                    sticky=sticky,
                    public=public,
                )
            )
            tx.jobs.add(_new_job(made))
        else:
            _retire_candidates(current, existing)
            made = replace(_without_canary(current, existing), scaling=scaling, guard=guard, sticky=sticky)
            made = current.change(existing, replace(made, public=public, updated_at=current.now))
        _add_revision(current, made, found, serving(Serving()))
        key = deployment_key(secret_of(tx), made)
    return made, key


def _new_job(deployment: Deployment) -> Job:
    return Job(
        id=deployment.job_id,
        kind=JobKind.DEPLOYMENT,
        name=deployment.name,
        entity_id=deployment.name,
        user_id=deployment.user_id,
        workspace_id=deployment.workspace_id,
        submitted_at=deployment.created_at,
        queue_position=deployment.created_at.timestamp(),
    )


def _taken(existing: Deployment) -> str:
    where = f"Deployment {existing.name} exists already in namespace {existing.namespace}"
    if existing.is_deleted:
        return f"{where} and is being deleted. Try again when it is gone."
    return f"{where}. Replace it (replace: true, --replace), update it, or choose another name."


def deployment_key(secret: str, deployment: Deployment) -> str:
    """What callers of the router show. Derived, not stored: a stolen database alone does not hold it."""
    what = f"deployment/{deployment.id}/{deployment.created_at.isoformat()}"
    return hmac.new(secret.encode(), what.encode(), hashlib.sha256).hexdigest()[:40]


def find_deployment(tx: Transaction, name: str, namespace: str | None = None) -> Deployment:
    """In `namespace`; without one, in the default namespace, else wherever the name is the only one."""
    if namespace is not None:
        found = tx.deployments.find(name, namespace)
    else:
        found = tx.deployments.find(name)
        if found is None:
            elsewhere = [d for d in tx.deployments.all() if d.name == name]
            found = elsewhere[0] if len(elsewhere) == 1 else None
    if found is not None:
        return found
    names = ", ".join(sorted(d.name for d in tx.deployments.all())) or "none yet"
    raise NotFound(f"deployment not found: {name}. There are: {names}.")


# ------------------------------------------------------------------------------------------------------- changing


def patch_deployment(
    platform: Platform, name: str, change: Callable[[Deployment], Deployment], *, namespace: str | None = None
) -> Deployment:
    """Scaling, guard, stickiness, who may call."""
    with _changing(platform, name, namespace) as step:
        step.deployment = change(step.deployment)
    return step.deployment


def update_deployment(
    platform: Platform, name: str, source: SourceSpec, serving: ServingOf, *, namespace: str | None = None
) -> Deployment:
    """To another model, without a pause: it takes over all traffic once it is ready. A canary is given up."""
    with _changing(platform, name, namespace) as step:
        found = find_model(step.tx, source)
        made = serving(step.stable_serving())
        _check_slots(platform, made)
        _retire_candidates(step.flow, step.deployment)
        step.deployment = _without_canary(step.flow, step.deployment)
        _add_revision(step.flow, step.deployment, found, made)
    return step.deployment


def start_canary(
    platform: Platform, name: str, percent: int, source: SourceSpec, serving: ServingOf, *, namespace: str | None = None
) -> Deployment:
    """Without a source: the running canary's share changes."""
    with _changing(platform, name, namespace) as step:
        if step.deployment.stable is None:
            raise IllegalTransition(
                f"Deployment {name} has no stable revision yet, so nothing to compare a canary with. Wait until it is "
                f"ready: resolute deploy describe {name}"
            )
        if not source.is_given:
            if step.deployment.canary is None:
                raise IllegalTransition(f"Deployment {name} has no canary. Name the model that it should run.")
            step.deployment = replace(step.deployment, canary_percent=percent)
        else:
            found = find_model(step.tx, source)
            made = serving(step.stable_serving())
            _check_slots(platform, made)
            step.deployment = _without_canary(step.flow, step.deployment)
            revision = _add_revision(step.flow, step.deployment, found, made)
            step.deployment = replace(step.deployment, canary=revision.number, canary_percent=percent)
    return step.deployment


def promote_canary(platform: Platform, name: str, *, namespace: str | None = None) -> Deployment:
    """The canary takes over all traffic. Until it has as many replicas as the stable one, that one answers."""
    with _changing(platform, name, namespace) as step:
        if step.deployment.canary is None:
            raise IllegalTransition(f"Deployment {name} has no canary to promote. Start one: resolute deploy canary.")
        _retire_candidates(step.flow, step.deployment)
        # Served and neither stable nor canary: the roll-out makes it the stable one when it can carry the traffic.
        step.deployment = replace(step.deployment, canary=None, canary_percent=0)
    return step.deployment


def roll_back(platform: Platform, name: str, *, namespace: str | None = None) -> Deployment:
    """Give up the canary, or an update under way; without either, go back to the revision before the last one."""
    with _changing(platform, name, namespace) as step:
        if step.deployment.canary is not None:
            step.deployment = _without_canary(step.flow, step.deployment, "rolled back")
        elif candidate_of(step.deployment, step.revisions()) is not None and step.deployment.stable is not None:
            _retire_candidates(step.flow, step.deployment, "rolled back")
        elif step.deployment.previous is not None and step.deployment.previous != step.deployment.stable:
            step.revive(step.deployment.previous)
        else:
            raise IllegalTransition(
                f"Deployment {name} has no canary and no earlier revision to go back to. See its revisions: "
                f"resolute deploy describe {name}"
            )
    return step.deployment


def pin_revision(platform: Platform, name: str, number: int, *, namespace: str | None = None) -> Deployment:
    """All traffic to one revision, old or new; a canary is given up."""
    with _changing(platform, name, namespace) as step:
        step.revision(number)
        if step.deployment.canary == number:
            step.deployment = replace(step.deployment, canary=None, canary_percent=0)
        step.deployment = _without_canary(step.flow, step.deployment, f"revision {number} was pinned")
        if step.deployment.shadow == number:
            step.deployment = replace(step.deployment, shadow=None, shadow_percent=0)
        _retire_candidates(step.flow, step.deployment, f"revision {number} was pinned", keep=number)
        if step.deployment.stable != number:
            step.revive(number)
    return step.deployment


def start_shadow(
    platform: Platform, name: str, percent: int, source: SourceSpec, serving: ServingOf, *, namespace: str | None = None
) -> Deployment:
    with _changing(platform, name, namespace) as step:
        if not source.is_given:
            if step.deployment.shadow is None:
                raise IllegalTransition(f"Deployment {name} has no shadow. Name the model that it should run.")
        else:
            found = find_model(step.tx, source)
            made = serving(step.stable_serving())
            _check_slots(platform, made)
            step.deployment = _without_shadow(step.flow, step.deployment)
            revision = _add_revision(step.flow, step.deployment, found, made)
            step.deployment = replace(step.deployment, shadow=revision.number)
        step.deployment = replace(step.deployment, shadow_percent=percent)
    return step.deployment


def stop_shadow(platform: Platform, name: str, *, namespace: str | None = None) -> Deployment:
    with _changing(platform, name, namespace) as step:
        if step.deployment.shadow is None:
            raise IllegalTransition(f"Deployment {name} has no shadow.")
        step.deployment = _without_shadow(step.flow, step.deployment)
    return step.deployment


def delete_deployment(platform: Platform, name: str, *, namespace: str | None = None) -> None:
    """No new requests from now on; it is gone when its last replica is."""
    with flow(platform) as current:
        deployment = find_deployment(current.tx, name, namespace)
        current.move(deployment, replace(deployment, is_deleted=True, updated_at=current.now))


def record_in_deployment(flow: Flow, job: Job, changes: Mapping[str, Any]) -> None:
    """What was changed in the queue, so that revisions to come start from what is in force."""
    name = job.entity_id
    deployment = next(d for d in flow.tx.deployments.all() if d.job_id == job.id)
    for revision in flow.tx.deployments.revisions(deployment.id):
        flow.tx.deployments.save_revision(replace(revision, serving=replace(revision.serving, **changes)))
    flow.publish("deployments", f"deployment/{name}")


# ----------------------------------------------------------------------------------------------------------- steps


class _Step:
    """One change under way: the deployment as it will be, beside what is stored."""

    def __init__(self, current: Flow, deployment: Deployment) -> None:
        self.flow = current
        self.tx = current.tx
        self.deployment = deployment

    def revisions(self) -> list[Revision]:
        return self.tx.deployments.revisions(self.deployment.id)

    def revision(self, number: int) -> Revision:
        for revision in self.revisions():
            if revision.number == number:
                return revision
        numbers = ", ".join(str(r.number) for r in reversed(self.revisions()))
        raise NotFound(f"Deployment {self.deployment.name} has no revision {number}. There are: {numbers}.")

    def stable_serving(self) -> Serving:
        """What a new revision starts from."""
        if self.deployment.stable is not None:
            return self.revision(self.deployment.stable).serving
        known = self.revisions()
        return known[0].serving if known else Serving()

    def revive(self, number: int) -> None:
        """Have an old revision served again; it takes over when it is ready."""
        revision = self.revision(number)
        if not revision.is_served:
            self.flow.move(revision, revision.moved_to(RevisionState.STARTING))


@contextmanager
def _changing(platform: Platform, name: str, namespace: str | None) -> Iterator[_Step]:
    with flow(platform) as current:
        deployment = find_deployment(current.tx, name, namespace)
        if deployment.is_deleted:
            raise IllegalTransition(f"Deployment {name} is being deleted; it cannot be changed.")
        step = _Step(current, deployment)
        yield step
        current.change(deployment, replace(step.deployment, updated_at=current.now))


def _add_revision(current: Flow, deployment: Deployment, found: FoundModel, serving: Serving) -> Revision:
    """The newest revision says how the deployment stands in the queue."""
    job = current.tx.jobs.get(deployment.job_id)
    queued = replace(job, priority=serving.priority, weight=serving.weight, resource_pool=serving.resource_pool)
    current.change(job, queued)
    return current.add(
        Revision(
            id=0,
            deployment_id=deployment.id,
            number=0,
            source=found.source,
            model_version_id=found.model_version_id,
            checkpoint_uuid=found.checkpoint_uuid,
            serving=serving,
            created_at=current.now,
        )
    )


def _retire(current: Flow, deployment: Deployment, number: int | None, reason: str) -> None:
    for revision in current.tx.deployments.revisions(deployment.id):
        if revision.number == number and revision.is_served:
            current.move(revision, revision.moved_to(RevisionState.RETIRED, reason), reason=reason)


def _without_canary(current: Flow, deployment: Deployment, reason: str = "replaced") -> Deployment:
    _retire(current, deployment, deployment.canary, reason)
    return replace(deployment, canary=None, canary_percent=0)


def _without_shadow(current: Flow, deployment: Deployment) -> Deployment:
    _retire(current, deployment, deployment.shadow, "no longer the shadow")
    return replace(deployment, shadow=None, shadow_percent=0)


def _retire_candidates(current: Flow, deployment: Deployment, reason: str = "replaced", keep: int = 0) -> None:
    """There is at most one revision on its way to become the stable one."""
    taken = {deployment.stable, deployment.canary, deployment.shadow, keep}
    for revision in current.tx.deployments.revisions(deployment.id):
        if revision.is_served and revision.number not in taken:
            current.move(revision, revision.moved_to(RevisionState.RETIRED, reason), reason=reason)


def _check_slots(platform: Platform, serving: Serving) -> None:
    """A replica that can never be placed is refused here, not left in the queue."""
    pool = find_pool(platform, serving.resource_pool, key="serving.resource_pool")
    if pool.can_grow or pool.is_delegating:
        return
    largest = max((len(n.slots) for n in platform.runner.nodes() if n.resource_pool == pool.name), default=0)
    if serving.slots > largest:
        raise InvalidInput(
            f"serving.slots: {serving.slots} slots per replica do not fit; the largest node of pool "
            f"{serving.resource_pool} has {largest}."
        )
