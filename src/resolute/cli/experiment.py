"""`resolute experiment`: create, look, steer, download."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.experiment_change import label_app, set_app
from resolute.cli.logs import Line, log_command, print_line
from resolute.cli.output import moment, percent, print_json, print_pairs, print_table, size, waiting
from resolute.cli.watch import watch
from resolute.client.configuration import as_dict, as_yaml, with_overrides
from resolute.client.experiment import Experiment
from resolute.client.logs import LogFilter
from resolute.client.resource import bare
from resolute.domain.errors import InvalidInput, NotFound

app = group("Create, follow and steer experiments.")
app.add_typer(set_app, name="set")
app.add_typer(label_app, name="label")

ExperimentId = Annotated[int, typer.Argument(metavar="ID", help="Number of the experiment.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--config", metavar="KEY=VALUE", help="Change one key, such as searcher.max_trials=16; repeatable."),
]
Follow = Annotated[bool, typer.Option("--follow-first-trial", "-f", help="Follow the logs of the first trial.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@command(app, "create")
def create(
    run: Run,
    config_file: Annotated[Path, typer.Argument(metavar="CONFIG", help="The configuration, a YAML file.")],
    model_def: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="Folder or file with the code.")] = None,
    config: Overrides = None,
    template: Annotated[str | None, typer.Option(help="Template to lay under the configuration.")] = None,
    project_id: Annotated[int | None, typer.Option("--project_id", "--project-id", help="Put it in here.")] = None,
    include: Annotated[list[Path] | None, typer.Option("--include", "-i", help="More files or folders.")] = None,
    paused: Annotated[bool, typer.Option("--paused", help="Do not start it yet.")] = False,
    follow: Follow = False,
    watching: Annotated[bool, typer.Option("--watch", help="Show progress until it ends.")] = False,
    validate_only: Annotated[bool, typer.Option("--validate-only", help="Check it; create nothing.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what the engine would be asked to run; create nothing.")
    ] = False,
) -> None:
    """Create an experiment from a configuration and a folder of code."""
    if follow and paused:
        raise InvalidInput(
            "--follow-first-trial waits for a trial, which --paused keeps from starting. Give one of them."
        )
    wanted = with_overrides(config_file, config or [])
    options: dict[str, Any] = {"include": include or (), "template": template, "project_id": project_id}
    if validate_only:
        checked = run.client.validate_experiment(wanted, model_def, **options)
        run.say(f"{config_file} is valid.", checked)
        return
    if dry_run:
        _print_request(run, run.client.dry_run_experiment(wanted, model_def, **options))
        return
    experiment = run.client.create_experiment(wanted, model_def, activate=not paused, **options)
    _tell_created(run, experiment)
    if follow:
        _follow(experiment)
    elif watching:
        _end(watch(experiment))


def _print_request(run: Run, answer: dict[str, Any]) -> None:
    for warning in answer.get("warnings") or ():
        typer.echo(f"Warning: {warning}", err=True)
    if run.is_json:
        print_json(answer["request"])
    else:
        typer.echo(as_yaml(answer["request"]).rstrip("\n"))


def _tell_created(run: Run, experiment: Experiment) -> None:
    if not run.is_json:
        for warning in experiment.data.get("warnings") or []:
            typer.echo(f"Warning: {_warning(warning)}", err=True)
    run.say(f"Created experiment {experiment.id}", experiment.data)
    if not run.is_json:
        typer.echo(f"{run.client.master}/det/experiments/{experiment.id}")


def _warning(code: str) -> str:
    if code == "LAUNCH_WARNING_CURRENT_SLOTS_EXCEEDED":
        return "a trial asks for more slots than the pool has; it waits until there are more."
    return code


def _follow(experiment: Experiment) -> None:
    trial = experiment.await_first_trial()
    typer.echo(f"Following trial {trial.id}; Ctrl-C stops following, not the trial.", err=True)
    for line in trial.logs(LogFilter(follow=True)):
        print_line(line)


def _end(state: str) -> None:
    if state != "COMPLETED":
        raise typer.Exit(1)


@command(app, "list", "ls")
def list_experiments(
    run: Run,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Of everybody, archived ones too.")] = False,
    limit: Annotated[int | None, typer.Option(help="Maximum number of rows to show.")] = None,
    offset: Annotated[int, typer.Option(help="Number of rows to skip.")] = 0,
    state: Annotated[list[str] | None, typer.Option(help="Only in this state, such as ACTIVE; repeatable.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only with this label; repeatable.")] = None,
    project_id: Annotated[int | None, typer.Option("--project-id", help="Only of this project.")] = None,
) -> None:
    """List your experiments."""
    found = list(
        run.client.list_experiments(
            users=[] if everything else [run.client.users.me()["username"]],
            archived=None if everything else False,
            states=[word.upper() for word in state or []],
            labels=label or [],
            project_id=project_id,
            limit=limit,
            offset=offset,
        )
    )
    show_experiments(run, found)


def show_experiments(run: Run, experiments: list[Experiment]) -> None:
    headers = ("ID", "Owner", "Name", "State", "Progress", "Trials", "Started", "Ended", "Pool")
    run.show(headers, [_row(e) for e in experiments], [e.data for e in experiments])


def _row(experiment: Experiment) -> tuple[object, ...]:
    data = experiment.data
    return (
        experiment.id,
        data.get("username"),
        experiment.name,
        experiment.state,
        percent(experiment.progress),
        data.get("numTrials"),
        moment(data.get("startTime")),
        moment(data.get("endTime")),
        data.get("resourcePool"),
    )


@command(app, "describe")
def describe(
    run: Run,
    experiment_ids: Annotated[str, typer.Argument(metavar="ID[,ID...]", help="Numbers, separated by commas.")],
) -> None:
    """Show experiments and their trials."""
    experiments = [run.client.get_experiment(number) for number in _numbers(experiment_ids)]
    trials = {e.id: e.trials() for e in experiments}
    if run.is_json:
        print_json([{**e.data, "trials": [t.data for t in trials[e.id]]} for e in experiments])
        return
    for experiment in experiments:
        print_pairs(_facts(experiment))
        print()
        print_table(_TRIAL_HEADERS, [_trial_row(t.data) for t in trials[experiment.id]])


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(f"{text!r} is not a list of experiment numbers. Write them like 3 or 3,4,5.") from None


def _facts(experiment: Experiment) -> dict[str, object]:
    data = experiment.data
    notices = {"Notices": "\n".join(data["warnings"])} if data.get("warnings") else {}
    return {
        "Experiment": experiment.id,
        "Name": experiment.name,
        "State": experiment.state,
        **waiting(data),
        "Progress": percent(experiment.progress),
        "Description": experiment.description,
        "Labels": experiment.labels,
        "Owner": data.get("username"),
        "Workspace": data.get("workspaceName"),
        "Project": data.get("projectName"),
        "Searcher": data.get("searcherType"),
        "Metric": (experiment.config.get("searcher") or {}).get("metric"),
        "Started": moment(data.get("startTime")),
        "Ended": moment(data.get("endTime")),
        "Archived": experiment.is_archived,
        **notices,
    }


_TRIAL_HEADERS = ("Trial", "State", "Steps", "Best metric", "Restarts", "Hyperparameters", "Started", "Ended")


def _trial_row(trial: dict[str, object]) -> tuple[object, ...]:
    return (
        trial["id"],
        bare(str(trial["state"])),
        trial.get("totalBatchesProcessed"),
        trial.get("searcherMetricValue"),
        trial.get("restarts"),
        trial.get("hparams"),
        moment(trial.get("startTime")),
        moment(trial.get("endTime")),
    )


@command(app, "list-trials", "lt")
def list_trials(
    run: Run,
    experiment_id: ExperimentId,
    limit: Annotated[int | None, typer.Option(help="Maximum number of rows to show.")] = None,
) -> None:
    """List the trials of an experiment."""
    trials = run.client.get_experiment(experiment_id).trials(limit=limit)
    run.show(_TRIAL_HEADERS, [_trial_row(t.data) for t in trials], [t.data for t in trials])


@command(app, "list-checkpoints", "lc")
def list_checkpoints(
    run: Run,
    experiment_id: ExperimentId,
    best: Annotated[int | None, typer.Option(metavar="N", help="Only the best N.")] = None,
) -> None:
    """List the checkpoints of an experiment, best first."""
    experiment = run.client.get_experiment(experiment_id)
    found = experiment.list_checkpoints(limit=best)
    headers = ("Trial", "Steps", "State", experiment.searcher_metric or "Metric", "UUID", "Size", "Written")
    rows = [
        (
            c.trial_id,
            c.steps_completed,
            c.state,
            c.searcher_metric,
            c.uuid,
            size(c.size),
            moment(c.data.get("reportTime")),
        )
        for c in found
    ]
    run.show(headers, rows, [c.data for c in found])


@log_command(app)
def logs(run: Run, experiment_id: ExperimentId, wanted: LogFilter) -> Iterator[Line]:
    """Logs of an experiment's first trial."""
    return run.client.get_experiment(experiment_id).logs(wanted)


@command(app, "config")
def config(
    run: Run,
    experiment_id: ExperimentId,
    original: Annotated[bool, typer.Option("--original", help="As it was submitted, comments included.")] = False,
) -> None:
    """Print the configuration, with every default filled in."""
    experiment = run.client.get_experiment(experiment_id)
    if run.is_json:
        print_json(experiment.config)
    else:
        text = experiment.data.get("originalConfig") if original else as_yaml(experiment.config)
        typer.echo(str(text).rstrip("\n"))


def _add_verb(verb: str, purpose: str, done: str, *aliases: str) -> None:
    @command(app, verb, *aliases, help=purpose)
    def act(run: Run, experiment_id: ExperimentId) -> None:
        getattr(run.client.get_experiment(experiment_id), verb)()
        run.say(f"{done} experiment {experiment_id}", {"id": experiment_id, "done": verb})


_add_verb("pause", "Stop for now, after a checkpoint.", "Paused")
_add_verb("activate", "Go on with a paused experiment.", "Activated", "unpause")
_add_verb("cancel", "Stop for good, after a last checkpoint.", "Canceled")
_add_verb("kill", "Stop for good, at once.", "Killed")
_add_verb("archive", "Hide it from lists.", "Archived")
_add_verb("unarchive", "Show it in lists again.", "Unarchived")


@command(app, "delete")
def delete(run: Run, experiment_id: ExperimentId, yes: Yes = False) -> None:
    """Delete it with its trials, logs and checkpoints."""
    experiment = run.client.get_experiment(experiment_id)
    run.confirm(f"Delete experiment {experiment_id} ({experiment.name}) and all its checkpoints?", is_agreed=yes)
    experiment.delete()
    run.say(f"Deleting experiment {experiment_id}", {"id": experiment_id, "done": "delete"})


@command(app, "wait")
def wait(
    run: Run,
    experiment_id: ExperimentId,
    polling_interval: Annotated[float, typer.Option(help="Seconds between looks.")] = 5.0,
) -> None:
    """Wait until it ends; exit code 1 unless it completed."""
    experiment = run.client.get_experiment(experiment_id)
    state = experiment.wait(interval_s=polling_interval)
    run.say(f"Experiment {experiment_id} ended as {state}", experiment.data)
    _end(state)


@command(app, "watch")
def watch_experiment(run: Run, experiment_id: ExperimentId) -> None:
    """Show progress, trials and the best metric until it ends."""
    experiment = run.client.get_experiment(experiment_id)
    state = experiment.wait() if run.is_json else watch(experiment)
    if run.is_json:
        print_json(experiment.data)
    _end(state)


@command(app, "download")
def download(
    run: Run,
    experiment_id: ExperimentId,
    output_dir: Annotated[Path, typer.Option("--output-dir", "-o", help="Where to.")] = Path("checkpoints"),
    top_n: Annotated[int, typer.Option(help="How many of the best.")] = 1,
    sort_by: Annotated[str | None, typer.Option(help="Validation metric that decides what is best.")] = None,
    smaller_is_better: Annotated[bool | None, typer.Option(help="Which way --sort-by counts.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print paths only.")] = False,
) -> None:
    """Download the best checkpoints."""
    if (sort_by is None) != (smaller_is_better is None):
        raise InvalidInput("--sort-by and --smaller-is-better / --no-smaller-is-better go together; give both or none.")
    experiment = run.client.get_experiment(experiment_id)
    order: Literal["asc", "desc"] | None = None if sort_by is None else ("asc" if smaller_is_better else "desc")
    found = experiment.list_checkpoints(sort_by=sort_by, order=order, limit=top_n)
    if not found:
        raise NotFound(f"Experiment {experiment_id} has no checkpoint with a validation metric yet.")
    folders = [checkpoint.download(output_dir / checkpoint.uuid) for checkpoint in found]
    if run.is_json:
        print_json([{"uuid": c.uuid, "path": str(f)} for c, f in zip(found, folders, strict=True)])
        return
    for checkpoint, folder in zip(found, folders, strict=True):
        typer.echo(folder if quiet else f"{checkpoint.uuid}  {checkpoint.searcher_metric}  {folder}")


@command(app, "download-model-def")
def download_model_def(
    run: Run,
    experiment_id: ExperimentId,
    output_dir: Annotated[Path, typer.Option("--output-dir", "-o", help="Where to.")] = Path("."),
) -> None:
    """Download the code an experiment was created with."""
    folder = run.client.get_experiment(experiment_id).download_model_def(output_dir)
    run.say(f"Unpacked the code of experiment {experiment_id} into {folder}", {"path": str(folder)})


@command(app, "continue")
def continue_experiment(
    run: Run,
    experiment_id: ExperimentId,
    config_file: Annotated[Path | None, typer.Option(help="Keys to change, a YAML file.")] = None,
    config: Overrides = None,
    follow: Follow = False,
) -> None:
    """Train a finished experiment further, or one that failed again."""
    changes = as_dict(config_file if config_file is not None else {}, config or []) if config_file or config else {}
    experiment = run.client.continue_experiment(experiment_id, changes)
    run.say(f"Continued experiment {experiment_id}", experiment.data)
    if follow:
        _follow(experiment)


@command(app, "move")
def move(
    run: Run,
    experiment_id: ExperimentId,
    workspace: Annotated[str, typer.Argument(help="Name of the workspace.")],
    project: Annotated[str, typer.Argument(help="Name of the project.")],
) -> None:
    """Move it to another project."""
    target = run.client.projects.get(workspace, project)
    run.client.get_experiment(experiment_id).move_to(target["id"])
    run.say(
        f"Moved experiment {experiment_id} to {workspace}/{project}", {"id": experiment_id, "projectId": target["id"]}
    )
