"""Models that are exported in a second: a small SSD with real boxes, and a plain module."""

from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torchvision.models.detection.anchor_utils import DefaultBoxGenerator
from torchvision.models.detection.ssd import SSD

from resolute.serving.export import Exportable
from resolute.vision.checkpoint import DetectorRecord, write_detector
from resolute.vision.detections import ClassName
from resolute.vision.zoo import build_model

CLASSES = ("Fixed-wing Aircraft", "Small Aircraft", "Cargo Plane")


class Trunk(nn.Module):
    out_channels = (8, 8)

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride=8, padding=1)
        self.second = nn.Conv2d(8, 8, 3, stride=2, padding=1)

    def forward(self, image: Tensor) -> dict[str, Tensor]:
        first = torch.relu(self.first(image))
        return OrderedDict([("0", first), ("1", torch.relu(self.second(first)))])


@pytest.fixture
def ssd() -> Exportable:
    torch.manual_seed(0)
    anchors = DefaultBoxGenerator([[2], [2]])
    model = SSD(Trunk(), anchors, (64, 64), 4, score_thresh=0.2, detections_per_img=10)
    for layer in model.head.classification_head.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.normal_(layer.weight, std=0.5)
    note = {"kind": "detector", "architecture": "small_ssd", "dataset": "xview:3"}
    classes = [{"id": 11 + index, "name": name} for index, name in enumerate(CLASSES)]
    picture = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (50, 70, 3), dtype=np.uint8))
    return Exportable(
        module=model.eval(),
        name="small_ssd",
        example=(picture,),
        input_names=("image",),
        note=note | {"classes": classes},
    )


@pytest.fixture
def detector_folder(tmp_path: Path) -> Path:
    """A trained detector of the zoo, as a trainer leaves it."""
    torch.manual_seed(0)
    options = {"detections_per_image": 5, "score_threshold": 0.0}
    model = build_model("ssdlite320_mobilenet_v3_large", 4, **options)
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight)
    classes = tuple(ClassName(11 + index, name) for index, name in enumerate(CLASSES))
    folder = tmp_path / "detector"
    folder.mkdir()
    record = DetectorRecord(architecture="ssdlite320_mobilenet_v3_large", classes=classes, options=options)
    write_detector(folder, record, model.state_dict())
    return folder
