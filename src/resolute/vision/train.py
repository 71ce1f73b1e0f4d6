"""`python -m resolute.vision.train`: a detection training, as an experiment's entrypoint or on its own.

In an experiment everything comes from its YAML. Off-cluster, hyperparameters are options:

    python -m resolute.vision.train --data-dir tiles/ --model ssdlite320_mobilenet_v3_large --epochs 5
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from resolute.domain.errors import InvalidInput, ResoluteError
from resolute.training.launch.torch_distributed import main as launch

USAGE = """usage: python -m resolute.vision.train [--HYPERPARAMETER VALUE ...] [--epochs N | --batches N]
                                       [--validate-every N] [--folder RUN | --resume RUN] [--slots N]

Hyperparameters are those of an experiment's YAML: --data-dir, --model, --lr, --global-batch-size, ...
In an experiment they, and how long to train, come from its YAML. See docs/detection.md."""
_MODULE = "resolute.vision.train"


@dataclass(slots=True)
class Request:
    hparams: dict[str, Any] = field(default_factory=dict)
    epochs: int | None = None
    batches: int | None = None
    validate_every: int | None = None
    report_every: int | None = None
    checkpoint_every: int | None = None
    slots: int | None = None
    seed: int | None = None
    folder: str | None = None
    resume: str | None = None


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if {"-h", "--help"} & set(arguments):
        print(USAGE)
        return 0
    try:
        request = parse(arguments)
        if "RANK" not in os.environ and _slots(request) > 1:
            count = ["--nproc", str(request.slots)] if request.slots else []
            return launch([*count, "-m", _MODULE, *arguments])
        return 0 if train(request) else 1
    except ResoluteError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1


def parse(arguments: Sequence[str]) -> Request:
    """`--name value` and `--name=value`; values are read as YAML, so lists and numbers are what they look like."""
    request = Request()
    own = {name for name in Request.__dataclass_fields__ if name != "hparams"}
    waiting = list(arguments)
    while waiting:
        option, separator, value = waiting.pop(0).partition("=")
        if not option.startswith("--"):
            raise InvalidInput(f"{option!r} is not an option. Options look like --lr 0.01.\n{USAGE}")
        name = option[2:].replace("-", "_")
        if not separator:
            if not waiting:
                raise InvalidInput(f"{option} has no value.\n{USAGE}")
            value = waiting.pop(0)
        if name in own:
            setattr(request, name, value if name in ("folder", "resume") else _whole(option, value))
        else:
            request.hparams[name] = _value(option, value)
    if request.epochs and request.batches:
        raise InvalidInput("--epochs and --batches both say how long to train. Give one of them.")
    return request


def train(request: Request) -> bool:
    """False: these hyperparameters cannot work, and there is no master that was told so."""
    # Imported late: the parent of several ranks forks before torch may have run anything.
    from resolute.training.pytorch.lengths import Batch, Epoch
    from resolute.training.pytorch.session import init
    from resolute.training.pytorch.trainer import Trainer
    from resolute.vision.trial import DetectionTrial

    is_done = False
    length = Epoch(request.epochs) if request.epochs else Batch(request.batches) if request.batches else None
    with init(hparams=request.hparams, folder=request.folder, resume=request.resume) as context:
        if not context.run.is_on_cluster:
            context.run.config.setdefault("searcher", _searcher(request))
            context.run.hparams.setdefault("global_batch_size", 16)
        trial = DetectionTrial(context)
        every = Batch(request.validate_every) if request.validate_every else None
        Trainer(trial, context).fit(
            max_length=length,
            validation_period=every,
            reporting_period=Batch(request.report_every) if request.report_every else None,
            checkpoint_period=Batch(request.checkpoint_every) if request.checkpoint_every else None,
        )
        is_done = True
    return is_done or context.run.is_on_cluster


def _searcher(request: Request) -> dict[str, Any]:
    """What an experiment's YAML would say: the length, and that more mAP is better."""
    length = {"epochs": request.epochs} if request.epochs else {"batches": request.batches} if request.batches else None
    return {"name": "single", "metric": "mAP", "smaller_is_better": False, "max_length": length}


def _slots(request: Request) -> int:
    if request.slots is not None:
        return request.slots
    return len(os.environ.get("DET_SLOT_IDS", "[]").split(","))


def _whole(option: str, value: str) -> int:
    if not value.isdigit() or int(value) < 1:
        raise InvalidInput(f"{option} is {value!r}; give a whole number from 1.")
    return int(value)


def _value(option: str, text: str) -> Any:
    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as problem:
        raise InvalidInput(f"{option} is {text!r}, which is not a YAML value: {problem}.") from problem


if __name__ == "__main__":
    sys.exit(main())
