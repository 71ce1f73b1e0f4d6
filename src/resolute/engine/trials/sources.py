"""Which checkpoints trials work with that others made: told by inference and fine-tuning, asked by evaluations."""

from resolute.domain.errors import InvalidInput
from resolute.domain.metric import MetricReport
from resolute.domain.trial import SourceKind, TrialSource
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction

Reported = tuple[int, MetricReport, bool]


def report_source(platform: Platform, source: TrialSource) -> None:
    """Said again, the newest word counts. Raises NotFound for a trial, checkpoint or version that is not there."""
    if (source.model_id is None) != (source.model_version is None):
        raise InvalidInput("trialSourceInfo: modelId and modelVersion go together; give both, or neither.")
    with platform.store.write() as tx:
        tx.trials.get(source.trial_id)
        tx.checkpoints.get(source.checkpoint_uuid)
        if source.model_id is not None and source.model_version is not None:
            tx.models.version(source.model_id, source.model_version)
        tx.trials.put_source(source)


def metrics_of(
    tx: Transaction,
    *,
    checkpoint_uuid: str | None = None,
    model: tuple[int, int] | None = None,
    kind: SourceKind | None = None,
    group: str | None = None,
    visible_in: frozenset[int] | None = None,
) -> list[Reported]:
    """Everything that trials reported which worked with this checkpoint, or this version of a model."""
    sources = tx.trials.sources(checkpoint_uuid=checkpoint_uuid, model=model)
    trial_ids = dict.fromkeys(source.trial_id for source in sources if kind in (None, source.kind))
    found: list[Reported] = []
    for trial in tx.trials.of_ids(list(trial_ids)):
        workspace_id = tx.workspaces.of_experiment(trial.experiment_id)
        if visible_in is None or workspace_id in visible_in:
            found += [report for report in tx.metrics.reports(trial.id, group=group) if not report[2]]
    return found
