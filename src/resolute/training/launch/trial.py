"""`module:Class` as an entrypoint: finds the class and trains it, whichever kind of trial it is."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from resolute.domain.errors import InvalidInput, ResoluteError

_HARNESS = "determined.launch.torch_distributed"


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if len(arguments) != 1 or ":" not in arguments[0]:
        print("usage: python -m resolute.launch.trial MODULE:CLASS", file=sys.stderr)
        return 2
    try:
        return run_class(arguments[0])
    except ResoluteError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1


def run_class(name: str) -> int:
    """Alone in an allocation of several slots, first become one process per slot."""
    trial_class = load_class(name)
    if _is_harness_trial(trial_class):
        os.execvp(sys.executable, [sys.executable, "-m", _HARNESS, "--trial", name])
    from resolute.training.launch.torch_distributed import main as launch

    if "RANK" not in os.environ and len(os.environ.get("DET_SLOT_IDS", "[]").split(",")) > 1:
        return launch(["--trial", name])
    return train_class(trial_class)


def load_class(name: str) -> type[Any]:
    module_name, _, class_name = name.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name.partition(".")[0]:
            raise
        raise InvalidInput(
            f"There is no module {module_name!r} in {os.getcwd()}; entrypoint {name!r} needs {module_name}.py there."
        ) from None
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        classes = sorted(key for key, value in vars(module).items() if isinstance(value, type))
        raise InvalidInput(
            f"Module {module_name!r} has no class {class_name!r}; it has: {', '.join(classes) or 'no classes'}."
        )
    return found


def train_class(trial_class: type[Any]) -> int:
    from resolute.training.pytorch.session import init
    from resolute.training.pytorch.trainer import Trainer
    from resolute.training.pytorch.trial import Trial

    if hasattr(trial_class, "run_trial"):  # Other kinds of trials bring their own way to run.
        trial_class.run_trial()
        return 0
    if not issubclass(trial_class, Trial):
        raise InvalidInput(
            f"{trial_class.__name__} is not a trial class; derive it from resolute.pytorch.Trial, resolute.keras.Trial "
            "or a trial class of the harness, or use a script as entrypoint."
        )
    with init() as context:
        Trainer(trial_class(context), context).fit()
    return 0


def _is_harness_trial(trial_class: type[Any]) -> bool:
    return any(base.__module__.startswith("determined.") for base in trial_class.__mro__)
