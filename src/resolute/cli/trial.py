"""`resolute trial`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.logs import Line, log_command
from resolute.cli.output import moment, print_json, print_pairs, print_table, waiting
from resolute.client.checkpoint import Checkpoint
from resolute.client.logs import LogFilter
from resolute.client.trial import Trial
from resolute.domain.errors import InvalidInput, NotFound

app = group("Look into trials.")

TrialId = Annotated[int, typer.Argument(metavar="ID", help="Number of the trial.")]


@command(app, "describe")
def describe(
    run: Run,
    trial_id: TrialId,
    metrics: Annotated[bool, typer.Option("--metrics", help="Every report, batch metrics too.")] = False,
    metrics_summary: Annotated[bool, typer.Option("--metrics-summary", help="One line per metric.")] = False,
) -> None:
    """Show a trial and what it reported."""
    trial = run.client.get_trial(trial_id)
    workloads = list(trial.workloads(with_batches=metrics))
    if run.is_json:
        print_json({**trial.data, "workloads": workloads})
        return
    print_pairs(_facts(trial))
    print()
    if metrics_summary:
        print_table(("Group", "Metric", "Count", "Min", "Max", "Last"), _summary_rows(trial.summary_metrics))
    else:
        print_table(("Steps", "Kind", "Values", "Time"), [_workload_row(w) for w in workloads])


def _facts(trial: Trial) -> dict[str, object]:
    return {
        "Trial": trial.id,
        "Experiment": trial.experiment_id,
        "State": trial.state,
        **waiting(trial.data),
        "Hyperparameters": trial.hparams,
        "Steps": trial.total_batches,
        "Best metric": trial.searcher_metric,
        "Restarts": trial.restarts,
        "Started": moment(trial.data.get("startTime")),
        "Ended": moment(trial.data.get("endTime")),
    }


def _workload_row(workload: dict[str, Any]) -> tuple[object, ...]:
    kind = next((name for name in ("training", "validation", "checkpoint") if workload.get(name)), "")
    inner = workload.get(kind) or {}
    values = inner.get("uuid") or (inner.get("metrics") or {}).get("avgMetrics")
    return inner.get("totalBatches"), kind, values, moment(inner.get("endTime"))


def _summary_rows(summary: dict[str, Any]) -> list[tuple[object, ...]]:
    groups = [(group, metrics) for group, metrics in summary.items() if isinstance(metrics, dict)]
    return [
        (group, name, facts.get("count"), facts.get("min"), facts.get("max"), facts.get("last"))
        for group, metrics in groups
        for name, facts in metrics.items()
        if isinstance(facts, dict)
    ]


@log_command(app)
def logs(run: Run, trial_id: TrialId, wanted: LogFilter) -> Iterator[Line]:
    """Logs of a trial."""
    return run.client.get_trial(trial_id).logs(wanted)


@command(app, "kill")
def kill(run: Run, trial_id: TrialId) -> None:
    """Stop a trial for good, at once."""
    run.client.get_trial(trial_id).kill()
    run.say(f"Killed trial {trial_id}", {"id": trial_id, "done": "kill"})


@command(app, "download")
def download(
    run: Run,
    trial_id: TrialId,
    best: Annotated[bool, typer.Option("--best", help="The best by the searcher's metric.")] = False,
    latest: Annotated[bool, typer.Option("--latest", help="The newest.")] = False,
    uuid: Annotated[str | None, typer.Option(help="This one.")] = None,
    output_dir: Annotated[Path | None, typer.Option("--output-dir", "-o", help="Where to.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the path only.")] = False,
) -> None:
    """Download a checkpoint of a trial."""
    if sum((best, latest, uuid is not None)) != 1:
        raise InvalidInput("Say which checkpoint: one of --best, --latest or --uuid UUID.")
    trial = run.client.get_trial(trial_id)
    checkpoint = run.client.get_checkpoint(uuid) if uuid else _chosen(trial, is_best=best)
    folder = checkpoint.download(output_dir)
    run.say(
        str(folder) if quiet else f"Downloaded checkpoint {checkpoint.uuid} to {folder}",
        {"uuid": checkpoint.uuid, "path": str(folder)},
    )


def _chosen(trial: Trial, *, is_best: bool) -> Checkpoint:
    found = trial.top_checkpoint() if is_best else next(iter(trial.list_checkpoints(limit=1)), None)
    if found is None:
        raise NotFound(f"Trial {trial.id} has no {'validated ' if is_best else ''}checkpoint yet.")
    return found
