"""`resolute preview-search`, as Determined calls it: the master's word on how many trials a search would run."""

from pathlib import Path
from typing import Annotated

import typer

from resolute.cli.command import Run, command, group

app = group("Ask the master how many trials a search would run.")


@command(app, "preview-search")
def preview_search(
    run: Run, config_file: Annotated[Path, typer.Argument(help="The configuration, a YAML file.")]
) -> None:
    """Ask the master how many trials a search would run, and how far."""
    summary = run.client.preview_search(config_file)
    rows = [(t["count"], _length(t["unit"])) for t in summary.get("trials") or []]
    run.show(("Trials", "Length"), rows, summary)


def _length(unit: dict[str, object]) -> str:
    return f"{unit.get('value')} {unit.get('name')}{' (the whole)' if unit.get('maxLength') else ''}"
