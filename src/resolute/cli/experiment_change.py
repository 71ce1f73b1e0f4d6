"""`resolute experiment set` and `label`: what may be changed while an experiment runs."""

from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.domain.errors import NotFound
from resolute.domain.queue import check_priority

set_app = group("Change an experiment.")
label_app = group("Labels of an experiment.")

ExperimentId = Annotated[int, typer.Argument(metavar="ID", help="Number of the experiment.")]


@command(set_app, "name")
def set_name(run: Run, experiment_id: ExperimentId, name: str) -> None:
    """Give it another name."""
    _update(run, experiment_id, "name", name, name=name)


@command(set_app, "description")
def set_description(run: Run, experiment_id: ExperimentId, description: str) -> None:
    """Say what it is for."""
    _update(run, experiment_id, "description", description, description=description)


@command(set_app, "priority")
def set_priority(run: Run, experiment_id: ExperimentId, priority: int) -> None:
    """1 to 99; the lower number runs first."""
    _update(run, experiment_id, "priority", priority, resources={"priority": check_priority(priority)})


@command(set_app, "weight")
def set_weight(run: Run, experiment_id: ExperimentId, weight: float) -> None:
    """Its weight under fair share."""
    _update(run, experiment_id, "weight", weight, resources={"weight": weight})


@command(set_app, "max-slots")
def set_max_slots(run: Run, experiment_id: ExperimentId, max_slots: int) -> None:
    """Most slots that it may hold at once."""
    _update(run, experiment_id, "max_slots", max_slots, resources={"maxSlots": max_slots})


@command(set_app, "gc-policy")
def set_gc_policy(
    run: Run,
    experiment_id: ExperimentId,
    save_experiment_best: Annotated[int, typer.Option(help="Best checkpoints of the experiment to keep.")],
    save_trial_best: Annotated[int, typer.Option(help="Best checkpoints of each trial to keep.")],
    save_trial_latest: Annotated[int, typer.Option(help="Newest checkpoints of each trial to keep.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Choose which checkpoints are kept, and delete the others now."""
    run.confirm("Checkpoints beyond this policy are deleted now. Go on?", is_agreed=yes)
    policy = {
        "saveExperimentBest": save_experiment_best,
        "saveTrialBest": save_trial_best,
        "saveTrialLatest": save_trial_latest,
    }
    kept = (
        f"keep the best {save_experiment_best} of all, and of each trial "
        f"the best {save_trial_best} and the newest {save_trial_latest}"
    )
    _update(run, experiment_id, "checkpoint policy", kept, checkpointStorage=policy)


@command(label_app, "add")
def add_label(run: Run, experiment_id: ExperimentId, label: str) -> None:
    """Add a label."""
    labels = run.client.get_experiment(experiment_id).labels
    if label not in labels:
        labels.append(label)
    _update(run, experiment_id, "labels", ", ".join(labels), labels=labels)


@command(label_app, "remove", "rm")
def remove_label(run: Run, experiment_id: ExperimentId, label: str) -> None:
    """Remove a label."""
    labels = run.client.get_experiment(experiment_id).labels
    if label not in labels:
        raise NotFound(f"Experiment {experiment_id} has no label {label!r}. It has: {', '.join(labels) or 'none'}.")
    labels.remove(label)
    _update(run, experiment_id, "labels", ", ".join(labels) or "none", labels=labels)


def _update(run: Run, experiment_id: int, what: str, value: object, **changes: object) -> None:
    run.client.get_experiment(experiment_id).update(**changes)
    run.say(f"Set {what} of experiment {experiment_id} to {value}", {"id": experiment_id, **changes})
