"""Runs a model's main file in this process: `python -m resolute.training.lifecycle.runner`, one per worker.

The trainer finds its flags, its variables and the packages it imports, and needs to know nothing else.
"""

import logging
import sys
from pathlib import Path

from resolute.client.lifecycle.contract import TrialOrder
from resolute.domain.errors import InvalidInput, ResoluteError
from resolute.training.core import init
from resolute.training.environment import read_place, read_trial
from resolute.training.launch.command import RankCommand
from resolute.training.lifecycle.session import TrainerSession, begin, end
from resolute.training.lifecycle.workplace import own_workplace

ALIASES = Path(__file__).parent / "aliases"
"""Holds the package `kaptain`, so that trainers written for it import ours under the names they know."""


def main() -> int:
    try:
        run_trainer()
    except ResoluteError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1
    return 0


def run_trainer() -> None:
    """Raises what the trainer raises, and SystemExit when it ends with another code than 0."""
    trial = read_trial()
    if trial is None:
        raise InvalidInput("This is not a trial. Start the trainer itself to run it alone: python trainer.py")
    order = TrialOrder.of_config(trial.config)
    sys.path.insert(0, str(ALIASES))
    # Trainers turn the root logger up; our own calls to the master are not their news.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    home = Path.cwd()
    command = RankCommand(target=order.main_file, is_module=False, arguments=tuple(order.command_line(trial.hparams)))
    with own_workplace(read_place().local_rank), init() as run:
        session = begin(TrainerSession(run, order, home))
        try:
            _until_it_ends(command)
            session.finish()
        finally:
            end(session)


def _until_it_ends(command: RankCommand) -> None:
    try:
        command.run()
    except SystemExit as leaving:
        if leaving.code not in (None, 0):
            raise


if __name__ == "__main__":
    sys.exit(main())
