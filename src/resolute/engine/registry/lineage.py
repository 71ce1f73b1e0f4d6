"""What came from what: datasets, experiments, trials, checkpoints, model versions, deployments, as one graph.

From one thing it looks back to everything it was made of, and forward to everything made of it; not sideways. Reads
only, level by level, and stops at what the caller may not see, and at a number of nodes that a person can look at.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.dataset import DatasetVersion
from resolute.domain.deployment import Revision
from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.experiment import Experiment
from resolute.domain.model import ModelVersion
from resolute.domain.rights import Permission, Rights
from resolute.domain.trial import Trial
from resolute.engine.access.subjects import subject_of
from resolute.engine.ports.database import Transaction
from resolute.engine.registry.datasets import resolve
from resolute.engine.registry.models import find_model

K = TypeVar("K")
T = TypeVar("T")
MAX_NODES = 2000


class Kind(StrEnum):
    DATASET = "dataset"
    EXPERIMENT = "experiment"
    TRIAL = "trial"
    CHECKPOINT = "checkpoint"
    MODEL_VERSION = "model_version"
    DEPLOYMENT = "deployment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    kind: Kind
    id: str
    """What the same thing is asked for by."""
    name: str
    thing: Any = field(compare=False, repr=False)
    """The domain object itself."""
    state: str = ""
    time: datetime | None = None
    details: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True)
class Lineage:
    nodes: list[Node]
    edges: list[tuple[str, str]]
    """Keys, from what was there before to what was made of it."""
    is_truncated: bool = False


Found = Iterable[tuple[str, Node]]
"""The key of a node that was asked about, and a neighbour of it."""
Step = Callable[[Transaction, Sequence[Node]], Found]


def lineage(
    tx: Transaction, kind: Kind, thing_id: str, *, rights: Rights | None = None, max_nodes: int = MAX_NODES
) -> Lineage:
    """Raises NotFound or InvalidInput for an id that names nothing, or nothing that `rights` let see. None: all."""
    graph = _Graph(max_nodes, lambda node: rights is None or _is_seen(tx, rights, node))
    starts = _starts(tx, kind, thing_id, rights)
    for node in starts:
        graph.nodes[node.key] = node
    graph.walk(tx, starts, _BACK, is_back=True)
    graph.walk(tx, starts, _FORWARD, is_back=False)
    return Lineage(list(graph.nodes.values()), sorted(graph.edges), graph.is_truncated)


def _starts(tx: Transaction, kind: Kind, thing_id: str, rights: Rights | None) -> list[Node]:
    if rights is None:
        return list(_START[kind](tx, thing_id))
    hidden = NotFound(f"{kind.replace('_', ' ')} not found: {thing_id}")
    try:
        starts = [node for node in _START[kind](tx, thing_id) if _is_seen(tx, rights, node)]
    except NotFound as error:
        # Its sentence may name what else there is.
        raise (error if rights.has(_VIEW[kind]) else hidden) from None
    if not starts:
        raise hidden
    return starts


def _is_seen(tx: Transaction, rights: Rights, node: Node) -> bool:
    if rights.has(_VIEW[node.kind]):
        return True
    details = node.details
    match node.kind:
        case Kind.DATASET:
            subject = subject_of(tx, "dataset_name", node.thing.name, {"version": str(node.thing.version)})
        case Kind.EXPERIMENT:
            subject = subject_of(tx, "experiment_id", node.id)
        case Kind.TRIAL:
            subject = subject_of(tx, "trial_id", node.id)
        case Kind.CHECKPOINT:
            subject = subject_of(tx, "checkpoint_uuid", node.id)
        case Kind.MODEL_VERSION:
            subject = subject_of(tx, "model_name", details["model"])
        case Kind.DEPLOYMENT:
            subject = subject_of(tx, "deployment_name", details["deployment"], {"namespace": details["namespace"]})
    return rights.sees(subject)


_VIEW = {
    Kind.DATASET: Permission.VIEW_DATASETS,
    Kind.EXPERIMENT: Permission.VIEW_EXPERIMENT_METADATA,
    Kind.TRIAL: Permission.VIEW_EXPERIMENT_METADATA,
    Kind.CHECKPOINT: Permission.VIEW_EXPERIMENT_METADATA,
    Kind.MODEL_VERSION: Permission.VIEW_MODEL_REGISTRY,
    Kind.DEPLOYMENT: Permission.VIEW_DEPLOYMENTS,
}


class _Graph:
    def __init__(self, max_nodes: int, is_seen: Callable[[Node], bool]) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: set[tuple[str, str]] = set()
        self.is_truncated = False
        self._max_nodes = max_nodes
        self._is_seen = is_seen

    def walk(self, tx: Transaction, starts: Sequence[Node], steps: dict[Kind, Step], *, is_back: bool) -> None:
        seen = {node.key for node in starts}
        level = list(starts)
        while level:
            reached: list[Node] = []
            for kind, step in steps.items():
                asked = [node for node in level if node.kind is kind]
                for key, neighbour in step(tx, asked) if asked else ():
                    if self._join(key, neighbour, is_back=is_back) and neighbour.key not in seen:
                        seen.add(neighbour.key)
                        reached.append(neighbour)
            level = reached

    def _join(self, key: str, neighbour: Node, *, is_back: bool) -> bool:
        """False when there is no place left for another node, or it may not be seen."""
        if neighbour.key not in self.nodes:
            if not self._is_seen(neighbour):
                return False
            if len(self.nodes) >= self._max_nodes:
                self.is_truncated = True
                return False
            self.nodes[neighbour.key] = neighbour
        self.edges.add((neighbour.key, key) if is_back else (key, neighbour.key))
        return True


# ------------------------------------------------------------------------------------------------- things as nodes


def _dataset(dataset: DatasetVersion) -> Node:
    details = {"uri": dataset.uri, "fileCount": dataset.file_count, "contentHash": dataset.content_hash}
    return Node(
        kind=Kind.DATASET,
        id=dataset.reference,
        name=dataset.reference,
        thing=dataset,
        time=dataset.created_at,
        details=details,
    )


def _experiment(experiment: Experiment) -> Node:
    return Node(
        kind=Kind.EXPERIMENT,
        id=str(experiment.id),
        name=experiment.name,
        thing=experiment,
        state=experiment.state,
        time=experiment.start_time,
    )


def _trial(trial: Trial) -> Node:
    return Node(
        kind=Kind.TRIAL,
        id=str(trial.id),
        name=f"trial {trial.id}",
        thing=trial,
        state=trial.state,
        time=trial.start_time,
        details={"experimentId": trial.experiment_id, "hparams": trial.hparams},
    )


def _checkpoint(checkpoint: Checkpoint) -> Node:
    return Node(
        kind=Kind.CHECKPOINT,
        id=checkpoint.uuid,
        name=f"step {checkpoint.steps_completed}",
        thing=checkpoint,
        state=checkpoint.state,
        time=checkpoint.report_time,
        details={"trialId": checkpoint.trial_id, "stepsCompleted": checkpoint.steps_completed},
    )


def _model_version(tx: Transaction, version: ModelVersion) -> Node:
    model = tx.models.get(version.model_id)
    return Node(
        kind=Kind.MODEL_VERSION,
        id=f"{model.name}/{version.version}",
        name=f"{model.name}/{version.version}",
        thing=version,
        state=version.stage,
        time=version.creation_time,
        details={"model": model.name, "version": version.version, "name": version.name},
    )


def _revision(tx: Transaction, revision: Revision) -> Node:
    deployment = tx.deployments.get(revision.deployment_id)
    is_default = deployment.namespace == "default"
    name = f"{'' if is_default else deployment.namespace + '/'}{deployment.name}/{revision.number}"
    return Node(
        kind=Kind.DEPLOYMENT,
        id=name,
        name=name,
        thing=revision,
        state=revision.state,
        time=revision.created_at,
        details={"deployment": deployment.name, "namespace": deployment.namespace, "revision": revision.number},
    )


# ---------------------------------------------------------------------------------------------------------- starts


def _start_number(thing_id: str, kind: Kind) -> int:
    if not (thing_id.isascii() and thing_id.isdecimal()):
        raise InvalidInput(f"{thing_id!r} is no id of a {kind}. Give its number.")
    return int(thing_id)


def _start_model_version(tx: Transaction, thing_id: str) -> list[Node]:
    name, separator, number = thing_id.rpartition("/")
    if not separator:
        return [_model_version(tx, tx.models.version_by_id(_start_number(thing_id, Kind.MODEL_VERSION)))]
    model = find_model(tx, name)
    return [_model_version(tx, tx.models.version(model.id, _start_number(number, Kind.MODEL_VERSION)))]


def _start_deployment(tx: Transaction, thing_id: str) -> list[Node]:
    """`name` is all revisions, `name/2` is one; `namespace/name/2` where the namespace is not the default."""
    parts = thing_id.split("/")
    number = int(parts.pop()) if len(parts) > 1 and parts[-1].isdecimal() else None
    name, namespace = parts[-1], "/".join(parts[:-1]) or "default"
    deployment = tx.deployments.find(name, namespace)
    if deployment is None:
        raise NotFound(f"deployment not found: {thing_id}")
    revisions = [each for each in tx.deployments.revisions(deployment.id) if number in (None, each.number)]
    if not revisions and number is not None:
        raise NotFound(f"deployment {name} has no revision {number}")
    return [_revision(tx, revision) for revision in revisions]


_START: dict[Kind, Callable[[Transaction, str], list[Node]]] = {
    Kind.DATASET: lambda tx, thing_id: [_dataset(resolve(tx, thing_id))],
    Kind.EXPERIMENT: lambda tx, thing_id: [_experiment(tx.experiments.get(_start_number(thing_id, Kind.EXPERIMENT)))],
    Kind.TRIAL: lambda tx, thing_id: [_trial(tx.trials.get(_start_number(thing_id, Kind.TRIAL)))],
    Kind.CHECKPOINT: lambda tx, thing_id: [_checkpoint(tx.checkpoints.get(thing_id))],
    Kind.MODEL_VERSION: _start_model_version,
    Kind.DEPLOYMENT: _start_deployment,
}


# ------------------------------------------------------------------------------------------------------------ back


def _parents_of_datasets(tx: Transaction, nodes: Sequence[Node]) -> Found:
    for node in nodes:
        for parent in node.thing.parents:
            found = _or_none(tx.datasets.get, parent)
            if found is not None:
                yield node.key, _dataset(found)


def _datasets_of_experiments(tx: Transaction, nodes: Sequence[Node]) -> Found:
    return ((node.key, _dataset(each)) for node in nodes for each in tx.datasets.of_experiment(node.thing.id))


def _origins_of_trials(tx: Transaction, nodes: Sequence[Node]) -> Found:
    for node in nodes:
        yield node.key, _experiment(tx.experiments.get(node.thing.experiment_id))
        if node.thing.warm_start_checkpoint:
            begun_from = _or_none(tx.checkpoints.get, node.thing.warm_start_checkpoint)
            if begun_from is not None:
                yield node.key, _checkpoint(begun_from)


def _trials_of_checkpoints(tx: Transaction, nodes: Sequence[Node]) -> Found:
    return ((n.key, _trial(tx.trials.get(n.thing.trial_id))) for n in nodes if n.thing.trial_id is not None)


def _checkpoints_of_versions(tx: Transaction, nodes: Sequence[Node]) -> Found:
    return ((node.key, _checkpoint(tx.checkpoints.get(node.thing.checkpoint_uuid))) for node in nodes)


def _origins_of_revisions(tx: Transaction, nodes: Sequence[Node]) -> Found:
    for node in nodes:
        revision: Revision = node.thing
        version = _or_none(tx.models.version_by_id, revision.model_version_id or 0)
        if version is not None:
            yield node.key, _model_version(tx, version)
        elif revision.checkpoint_uuid:
            served = _or_none(tx.checkpoints.get, revision.checkpoint_uuid)
            if served is not None:
                yield node.key, _checkpoint(served)


def _or_none(get: Callable[[K], T], key: K) -> T | None:
    """What was deleted since is left out."""
    try:
        return get(key)
    except NotFound:
        return None


_BACK: dict[Kind, Step] = {
    Kind.DATASET: _parents_of_datasets,
    Kind.EXPERIMENT: _datasets_of_experiments,
    Kind.TRIAL: _origins_of_trials,
    Kind.CHECKPOINT: _trials_of_checkpoints,
    Kind.MODEL_VERSION: _checkpoints_of_versions,
    Kind.DEPLOYMENT: _origins_of_revisions,
}


# --------------------------------------------------------------------------------------------------------- forward


def _users_of_datasets(tx: Transaction, nodes: Sequence[Node]) -> Found:
    for node in nodes:
        yield from ((node.key, _dataset(each)) for each in tx.datasets.children(node.thing.id))
        yield from ((node.key, _experiment(tx.experiments.get(e))) for e in tx.datasets.experiments(node.thing.id))


def _trials_of_experiments(tx: Transaction, nodes: Sequence[Node]) -> Found:
    return ((node.key, _trial(each)) for node in nodes for each in tx.trials.of_experiment(node.thing.id))


def _checkpoints_of_trials(tx: Transaction, nodes: Sequence[Node]) -> Found:
    for node in nodes:
        for checkpoint in tx.checkpoints.of_trial(node.thing.id):
            if checkpoint.state is not CheckpointState.DELETED:
                yield node.key, _checkpoint(checkpoint)


def _users_of_checkpoints(tx: Transaction, nodes: Sequence[Node]) -> Found:
    keys = {node.id: node.key for node in nodes}
    for version in tx.models.versions_of_checkpoints(keys):
        yield keys[version.checkpoint_uuid], _model_version(tx, version)
    for revision in tx.deployments.of_checkpoints(keys):
        if revision.model_version_id is None and revision.checkpoint_uuid:
            yield keys[revision.checkpoint_uuid], _revision(tx, revision)


def _revisions_of_versions(tx: Transaction, nodes: Sequence[Node]) -> Found:
    for node in nodes:
        yield from ((node.key, _revision(tx, each)) for each in tx.deployments.of_model_version(node.thing.id))


_FORWARD: dict[Kind, Step] = {
    Kind.DATASET: _users_of_datasets,
    Kind.EXPERIMENT: _trials_of_experiments,
    Kind.TRIAL: _checkpoints_of_trials,
    Kind.CHECKPOINT: _users_of_checkpoints,
    Kind.MODEL_VERSION: _revisions_of_versions,
}
