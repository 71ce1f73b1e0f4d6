"""`resolute search`: what a search will cost, worked out here without a master."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.client.configuration import as_yaml
from resolute.search.simulate import simulate
from resolute.spec.experiment import ClusterDefaults, parse_experiment

app = group("See what a search will cost before it runs.")


@app.callback()
def _search() -> None:
    """See what a search will cost before it runs."""


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
    """Run the search on made-up learning curves and show trials, rungs and time."""
    parsed = parse_experiment(
        as_yaml(config_file),
        filename=str(config_file),
        overrides=config or [],
        defaults=ClusterDefaults(checkpoint_storage={"type": "shared_fs", "host_path": "/tmp"}, max_slots=slots),
        seed=seed,
        name=config_file.stem,
    )
    resources = parsed.resolved.get("resources") or {}
    simulation = simulate(
        parsed.resolved["searcher"],
        parsed.resolved["hyperparameters"],
        seed,
        slots=slots,
        slots_per_trial=max(int(resources.get("slots_per_trial") or 0), 1),
        seconds_per_unit=seconds_per_unit,
    )
    run.say(simulation.picture(), asdict(simulation))
