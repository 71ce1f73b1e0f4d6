"""`resolute search`: what one will cost, worked out without a master; driving one; and what several objectives gave."""

import io
import json
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from ruamel.yaml import YAML

from resolute.cli.command import Run, command, group
from resolute.client.configuration import as_yaml
from resolute.client.search_driver import drive
from resolute.domain.errors import InvalidInput
from resolute.search.simulate import simulate
from resolute.spec.experiment import ClusterDefaults, parse_experiment
from resolute.spec.katib import is_katib, read_katib

app = group("See what a search will cost before it runs, or decide it yourself.")


@command(app, "simulate")
def simulate_search(
    run: Run,
    config_file: Annotated[Path, typer.Argument(help="The configuration, a YAML file.")],
    config: Annotated[
        list[str] | None, typer.Option("--config", metavar="KEY=VALUE", help="Change one key; repeatable.")
    ] = None,
    slots: Annotated[int, typer.Option(help="Slots to spread the trials over.")] = 8,
    seed: Annotated[int, typer.Option(help="Same seed, same search.")] = 0,
    seconds_per_unit: Annotated[float, typer.Option(help="How long one batch (or other unit) takes.")] = 1.0,
) -> None:
    """Run the search on made-up learning curves and show trials, rungs and time. Takes Katib's experiments too."""
    text = as_yaml(config_file)
    parsed = parse_experiment(
        _translated(text, config_file) if is_katib(text) else text,
        filename=str(config_file),
        overrides=config or [],
        defaults=ClusterDefaults(checkpoint_storage={"type": "shared_fs", "host_path": "/tmp"}),
        seed=seed,
        name=config_file.stem,
    )
    simulation = simulate(
        parsed.config.searcher.resolved(),
        parsed.config.hyperparameters.resolved(),
        seed,
        slots=slots,
        slots_per_trial=max(parsed.config.resources.slots_per_trial, 1),
        seconds_per_unit=seconds_per_unit,
    )
    run.say(simulation.picture(), asdict(simulation))


@command(app, "convert")
def convert_katib(
    run: Run, config_file: Annotated[Path, typer.Argument(help="An experiment of Katib, a YAML file.")]
) -> None:
    """Print hyperparameters and searcher of a Katib experiment as ours; add the entrypoint and submit it."""
    found = read_katib(as_yaml(config_file), filename=str(config_file))
    for key in found.passed_over if not run.is_json else ():
        typer.echo(f"Note: {key} has no counterpart here and is passed over.", err=True)
    text = io.StringIO()
    YAML().dump(found.config, text)
    run.say(text.getvalue().rstrip(), dict(found.config))


def _translated(text: str, config_file: Path) -> str:
    found = read_katib(text, filename=str(config_file)).config
    return json.dumps({"entrypoint": "its trialTemplate", **found})


@command(app, "drive")
def drive_search(
    run: Run,
    experiment_id: Annotated[int, typer.Argument(help="An experiment with searcher.name: custom.")],
    searcher: Annotated[
        str | None,
        typer.Argument(metavar="[MODULE:CLASS]", help="Your class, importable from here; else searcher.entrypoint."),
    ] = None,
    interval: Annotated[float, typer.Option(help="Seconds between two looks.")] = 0.5,
) -> None:
    """Let your own class decide what an experiment tries. It may be stopped and started again."""
    experiment = run.client.get_experiment(experiment_id)
    section = experiment.config.get("searcher") or {}
    entrypoint = searcher or section.get("entrypoint")
    if not entrypoint:
        raise InvalidInput(
            f"Experiment {experiment_id} names no searcher.entrypoint. Give your class: "
            f"resolute search drive {experiment_id} MODULE:CLASS."
        )
    state = drive(experiment, _load(entrypoint)(**(section.get("config") or {})), interval_s=interval)
    run.say(f"Experiment {experiment_id} ended: {state}.", {"id": experiment_id, "state": state})


@command(app, "pareto")
def show_pareto_set(run: Run, experiment_id: Annotated[int, typer.Argument(help="Its number.")]) -> None:
    """Show the trials that no other trial beats in every metric."""
    trials = run.client.session.get(f"/api/v1/experiments/{experiment_id}/pareto").get("trials") or []
    names = list(trials[0]["metrics"]) if trials else []
    rows = [[t["trialId"], t["steps"], *t["metrics"].values(), t["hparams"]] for t in trials]
    run.show(("Trial", "Steps", *names, "Hyperparameters"), rows, trials)


def _load(entrypoint: str) -> Any:
    module, _, name = entrypoint.partition(":")
    sys.path.insert(0, "")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(
            f"{entrypoint!r} cannot be loaded ({error}). Give MODULE:CLASS, importable from this folder."
        ) from error
