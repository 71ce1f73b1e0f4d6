"""What `predict` and `evaluate` share: which detector is meant, and getting it here."""

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import quote

import typer

from resolute.cli.command import Run
from resolute.cli.data_options import with_choices
from resolute.cli.progress import progress_bar
from resolute.domain.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from resolute.imagery.render_options import RenderOptions
    from resolute.vision.detections import Detector

Checkpoint = Annotated[str | None, typer.Option("--checkpoint", metavar="UUID", help="A checkpoint of the platform.")]
Model = Annotated[
    str | None, typer.Option("--model", metavar="NAME[/VERSION]", help="A registered model; its newest version.")
]
Weights = Annotated[Path | None, typer.Option("--weights", metavar="FOLDER", help="A folder with detector.json.")]
Bands = Annotated[
    str | None,
    typer.Option("--bands", metavar="R,G,B", help="Read images with these bands, not with those of the training."),
]
Stretch = Annotated[
    Literal["auto", "none", "minmax", "percentile"] | None,
    typer.Option("--stretch", help="To 8 bits in this way, not as in the training."),
]
Percentiles = Annotated[
    str | None,
    typer.Option("--percentiles", metavar="LOW,HIGH", help="Ends of the stretch, not those of the training."),
]
Limits = Annotated[
    str | None,
    typer.Option("--limits", metavar="LOW,HIGH", help="Values that become black and white, not as in the training."),
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:1.")]
_NUMBERED = re.compile(r"(?P<name>.+)/(?P<version>\d+)")
FAKE = "fake"
"""`--weights fake` is the detector of bright areas: for trying the commands out without a model."""


def open_detector(
    run: Run, *, checkpoint: str | None, model: str | None, weights: Path | None, device: str
) -> "Detector":
    """Exactly one of the three is given. Downloads what is not here; nothing is fetched from anywhere else."""
    given = {"--checkpoint": checkpoint, "--model": model, "--weights": weights}
    named = [option for option, value in given.items() if value]
    if len(named) != 1:
        raise InvalidInput(f"{' and '.join(named) or 'No model'} given. Name one of {', '.join(given)}.")
    if weights is not None and str(weights) == FAKE and not weights.exists():
        from resolute.vision.fake import FakeDetector

        return FakeDetector()
    if model is not None:
        checkpoint = checkpoint_of_model(run, model)
    if weights is not None and not weights.is_dir():
        raise NotFound(f"There is no folder {weights}. Give the folder of a detector, or --checkpoint with its uuid.")
    folder = weights if weights is not None else _downloaded(run, str(checkpoint))
    with progress_bar("Loading the detector"):
        # Only now torch is loaded: a wrong option or a missing checkpoint is told at once.
        from resolute import vision

        return vision.load_detector(folder, device=_device(device))


def chosen_rendering(
    detector: "Detector", bands: str | None, stretch: str | None, percentiles: str | None, limits: str | None
) -> "RenderOptions | None":
    """None when nothing was chosen: as in the detector's training. What differs from that is told."""
    from resolute.vision.detections import preprocessing_of

    if bands is None and stretch is None and percentiles is None and limits is None:
        return None
    learnt = preprocessing_of(detector)
    chosen = with_choices(learnt.options if learnt is not None else None, bands, stretch, percentiles, limits)
    if learnt is not None and chosen != learnt.options:
        print(
            f"Warning: The detector learnt from pixels made with {learnt.sentence()}. Now they are made otherwise, as "
            "asked; it may see other colours than it knows.",
            file=sys.stderr,
        )
    return chosen


def checkpoint_of_model(run: Run, text: str) -> str:
    """The uuid behind `name` or `name/3`."""
    numbered = _NUMBERED.fullmatch(text)
    name = numbered["name"] if numbered else text
    path = f"/api/v1/models/{quote(name, safe='')}/versions"
    if numbered:
        version = run.client.session.get(f"{path}/{numbered['version']}")["modelVersion"]
    else:
        versions = list(run.client.session.pages(path, "modelVersions"))
        if not versions:
            raise NotFound(f"Model {name} has no version yet. Register a checkpoint first.")
        version = max(versions, key=lambda entry: int(entry["version"]))
    return str(version["checkpoint"]["uuid"])


def _downloaded(run: Run, uuid: str) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    with progress_bar("Downloading the checkpoint"):
        return run.client.get_checkpoint(uuid).download(cache / "resolute" / "checkpoints" / uuid)


def _device(name: str) -> str:
    if name != "auto":
        return name
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"
