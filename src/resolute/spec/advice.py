"""What is allowed but probably not meant: sentences that are shown once and stop nothing. Checks no types."""

import re
from collections.abc import Iterator

from resolute.spec.hyperparameters import Hyperparameters
from resolute.spec.problem import Path, Problem
from resolute.spec.resources import Resources
from resolute.spec.searcher import Custom, Grid, SearcherBase, Single

_CONTAINERS = frozenset({"kubernetes", "slurm", "ray"})
_NOWHERE: frozenset[str] = frozenset()
USEFUL_ON: dict[Path, tuple[frozenset[str], str]] = {
    ("environment", "image"): (_CONTAINERS, "use environment.python or environment.requirements"),
    ("environment", "force_pull_image"): (_CONTAINERS, ""),
    ("environment", "registry_auth"): (_CONTAINERS, ""),
    ("environment", "add_capabilities"): (_CONTAINERS, ""),
    ("environment", "drop_capabilities"): (_CONTAINERS, ""),
    ("environment", "pod_spec"): (frozenset({"kubernetes"}), ""),
    ("resources", "shm_size"): (_CONTAINERS, "trials share the machine's own /dev/shm"),
    ("resources", "devices"): (_CONTAINERS, "trials see the machine's own devices"),
    ("resources", "agent_label"): (_NOWHERE, "use resources.resource_pool"),
    ("slurm",): (frozenset({"slurm"}), ""),
    ("pbs",): (_NOWHERE, ""),
    ("ray",): (frozenset({"ray"}), ""),
    ("security",): (_NOWHERE, ""),
    ("data_layer",): (_NOWHERE, "read the data from the training code"),
    ("tensorboard_storage",): (_NOWHERE, "event files go to checkpoint_storage"),
    ("integrations", "pachyderm"): (_NOWHERE, ""),
}
"""Runners on which a key does something, and what to do where it does not. Keys not listed work everywhere."""

_LARGER = frozenset(
    {"map", "ap", "acc", "accuracy", "f1", "auc", "auroc", "auprc", "iou", "miou", "dice", "bleu", "rouge"}
    | {"precision", "recall", "psnr", "ssim", "r2", "reward", "top"}
)
_SMALLER = frozenset(
    {"loss", "error", "err", "perplexity", "ppl", "mse", "rmse", "mae", "mape", "nll", "wer", "cer", "fid"}
)
MANY_TRIALS = 10_000


def keys_without_effect(config: dict[str, object], runner: str) -> Iterator[Problem]:
    """Keys of `config` as written that do nothing on `runner`; they are kept all the same."""
    for path, (runners, remedy) in USEFUL_ON.items():
        if runner in runners or not _given(config, path):
            continue
        where = f"has no effect on the {runner} runner" if runners else "has no effect"
        yield Problem(path, f"{where}{'; ' + remedy if remedy else '; it is kept as written'}")


def search_advice(searcher: SearcherBase, space: Hyperparameters) -> Iterator[Problem]:
    """Sizes and directions that contradict one another."""
    yield from _direction_advice(searcher)
    points, wanted = space.points, getattr(searcher, "max_trials", None)
    if wanted is not None and points is not None and points < wanted and space.is_free:
        yield Problem(
            ("searcher", "max_trials"),
            f"asks for {wanted} trials, but the hyperparameters have only {points} different settings;"
            " some will be tried more than once",
        )
    if isinstance(searcher, Grid) and points is not None and points > MANY_TRIALS:
        yield Problem(("searcher",), f"makes a grid of {points:,} trials; lower the counts, or use adaptive_asha")
    if isinstance(searcher, Single) and space.is_free:
        yield Problem(("searcher", "name"), "is single, so each free hyperparameter is drawn once, at random")
    if not searcher.needs_space and not isinstance(searcher, Single | Custom) and not space.is_free:
        yield Problem(
            ("searcher", "name"),
            f"is {searcher.name}, but every hyperparameter is constant: trials differ by seed alone",
        )
    if isinstance(searcher, Custom):
        yield Problem(
            ("searcher", "name"),
            "is custom, so nothing starts before a program decides; use `resolute search drive`, or the API",
        )


def slots_advice(resources: Resources, max_slots: int | None) -> Iterator[Problem]:
    wanted = resources.slots_per_trial
    if max_slots is not None and wanted > max_slots:
        yield Problem(
            ("resources", "slots_per_trial"),
            f"is {wanted}, but pool {resources.resource_pool} has at most {max_slots} slots;"
            " trials wait in the queue until it grows",
        )


def _direction_advice(searcher: SearcherBase) -> Iterator[Problem]:
    for name, smaller_is_better in searcher.metrics.items():
        words = _words(name)
        is_larger, is_smaller = bool(words & _LARGER), bool(words & _SMALLER)
        if is_larger == is_smaller or is_smaller == smaller_is_better:
            continue
        better, value = ("larger", "false") if is_larger else ("smaller", "true")
        yield Problem(
            ("searcher", "smaller_is_better"),
            f"is {str(smaller_is_better).lower()}, but {name} is usually better when {better};"
            f" set smaller_is_better: {value} unless you mean it",
        )


def _words(metric: str) -> set[str]:
    parts = re.split(r"[^A-Za-z0-9]+", metric)
    parts += re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", metric)
    return {part.lower() for part in parts} | {part.lower().rstrip("0123456789") for part in parts}


def _given(config: object, path: Path) -> bool:
    for key in path:
        if not isinstance(config, dict) or key not in config:
            return False
        config = config[key]
    return config not in (None, False, "", [], {})
