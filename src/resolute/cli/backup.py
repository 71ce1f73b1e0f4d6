"""`resolute backup`: a home copied while its master runs, and made again from the copy."""

from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.up import require

app = group("Back up a home while its master runs, and restore it.")
_NEEDED = ("sqlalchemy",)
_Home = Annotated[
    Path | None, typer.Option("--home", envvar="RESOLUTE_HOME", help="The home folder; ~/.resolute if left out.")
]


@command(app, "create")
def create(
    run: Run,
    target: Annotated[Path, typer.Argument(help="New folder to copy into.")],
    home: _Home = None,
    checkpoints: Annotated[bool, typer.Option(help="Copy the files of checkpoints too.")] = True,
) -> None:
    """Copy the database, logs and checkpoints of a home. The master may be running."""
    made = _store().make_backup(_folder(home), target, now=datetime.now(UTC), with_checkpoints=checkpoints)
    _tell(run, f"Backed up to {target}", made)


@command(app, "restore")
def restore(
    run: Run,
    source: Annotated[Path, typer.Argument(help="Folder that `resolute backup create` wrote.")],
    home: _Home = None,
) -> None:
    """Make a new home from a backup. Nothing is overwritten; start it with `resolute up --home`."""
    made = _store().restore_backup(source, _folder(home))
    _tell(run, f"Restored to {_folder(home)}", made)


def _folder(home: Path | None) -> Path:
    return (home or Path("~/.resolute")).expanduser().resolve()


def _store() -> Any:
    """The client alone has no database driver."""
    require(_NEEDED)
    return import_module("resolute.store.backup")


def _tell(run: Run, done: str, made: Any) -> None:
    text = (
        f"{done}: {made.experiments} experiments, {made.trials} trials, {made.checkpoints} checkpoints, "
        f"{made.files} files, {made.size_bytes / 1e6:,.1f} MB."
    )
    if not made.has_checkpoint_files:
        text += " Files of checkpoints were left out."
    if made.missing:
        text += f" {len(made.missing)} checkpoints miss files: {', '.join(made.missing[:3])}."
    run.say(text, asdict(made))
