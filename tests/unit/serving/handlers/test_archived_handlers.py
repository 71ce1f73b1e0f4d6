"""Handlers from archives run unmodified, and what goes wrong in them becomes a sentence."""

import base64
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from resolute.domain.errors import InvalidInput, Unavailable
from resolute.serving.limits import ModelFailed
from resolute.serving.model import Model

Archive = Callable[..., Model]

# Written against TorchServe's names, as handlers in the wild are: base classes, label mapping, class attributes.
DETECTOR_HANDLER = """
import torch
from packaging import version
from torchvision import __version__ as torchvision_version
from torchvision import transforms
from ts.torch_handler.object_detector import ObjectDetector
from ts.torch_handler.vision_handler import VisionHandler
from ts.utils.util import map_class_to_label

class XviewDetector(ObjectDetector):
    image_processing = transforms.Compose([transforms.ToTensor()])
    threshold = 0.0

    def initialize(self, context):
        super().initialize(context)
        assert isinstance(self, VisionHandler)
        assert context.system_properties.get("gpu_id") is None
        assert version.parse(torchvision_version) > version.parse("0.6.0")

    def postprocess(self, data):
        answers = []
        for row in data:
            kept = row["scores"] >= self.threshold
            labels, boxes, scores = (row[key][kept].tolist() for key in ("labels", "boxes", "scores"))
            found = []
            for label, box, score in zip(labels, boxes, scores):
                named = map_class_to_label([[box]], self.mapping, [[label]])[0]
                named["score"] = score
                found.append(named)
            answers.append(found)
        return answers
"""
DETECTOR_MODEL = """
from torchvision.models.detection.backbone_utils import resnet_fpn_backbone
from torchvision.models.detection.faster_rcnn import FasterRCNN

class Detector(FasterRCNN):
    def __init__(self, num_classes=4, **kwargs):
        backbone = resnet_fpn_backbone("resnet18", True)
        super().__init__(backbone, num_classes, min_size=64, max_size=64, box_score_thresh=0.0, **kwargs)
"""
CLASSES = {"0": "__background__", "1": "Fixed-wing Aircraft", "2": "Small Aircraft", "3": "Cargo Plane"}


def _state_of(code: str) -> dict[str, torch.Tensor]:
    scope: dict[str, Any] = {}
    exec(code.replace("True", "None").replace('("resnet18", ', '(backbone_name="resnet18", weights='), scope)
    torch.manual_seed(0)
    state: dict[str, torch.Tensor] = scope["Detector"]().state_dict()
    return state


def _picture(width: int, height: int) -> dict[str, str]:
    target = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 255, (height, width, 3), np.uint8)
    Image.fromarray(noise).save(target, "JPEG")
    return {"data": base64.b64encode(target.getvalue()).decode()}


@pytest.mark.filterwarnings("ignore::UserWarning:torchvision")
def test_a_detection_archive_runs_unmodified_and_downloads_nothing(
    archive: Archive, caplog: pytest.LogCaptureFixture
) -> None:
    model = archive(
        "fasterrcnn_handler.py",
        net=DETECTOR_MODEL,
        state=_state_of(DETECTOR_MODEL),
        files={"index_to_name.json": CLASSES, "fasterrcnn_handler.py": DETECTOR_HANDLER},
        model_file="model-xview.py",
    )

    answers = model.predict([_picture(60, 40), _picture(33, 70)])

    assert len(answers) == 2
    assert answers[0]
    for row in answers[0]:
        name, score = row
        assert name in CLASSES.values()
        assert score == "score"
        assert len(row[name]) == 4
    assert any("not downloaded" in record.getMessage() for record in caplog.records)


@pytest.mark.filterwarnings("ignore::UserWarning:torchvision")
def test_pretrained_weights_without_own_ones_are_refused(archive: Archive) -> None:
    with pytest.raises(InvalidInput, match=r"asks for pretrained weights from https://.*resnet18.* --serialized-file"):
        archive("object_detector", net=DETECTOR_MODEL, files={"index_to_name.json": CLASSES})


def test_typed_tensors_come_out_of_v2(archive: Archive) -> None:
    handler = (
        'def handle(data, context):\n    return data and [[{"ship": [1, 2, 3, 4.5], "score": 0.5}] for _ in data]\n'
    )
    model = archive("h.py", net=None, files={"h.py": handler})
    encoded = np.empty(1, dtype=object)
    encoded[0] = b"picture"

    answer = model.infer([{"image": encoded}])[0]

    assert answer["boxes"].tolist() == [[1, 2, 3, 4.5]]
    assert answer["boxes"].dtype == np.float32
    assert answer["scores"].tolist() == [0.5]
    assert answer["class_names"].tolist() == [b"ship"]


@pytest.mark.parametrize(
    ("returned", "name", "wanted"),
    [
        ("2", "x", [2]),
        ("[0.5, 1.5]", "x", [[0.5, 1.5]]),
        ('{"a": 0.25, "b": 0.75}', "scores", [0.25, 0.75]),
        ('{"a": [1]}', "x", [b'{"a": [1]}']),
        ('"text"', "x", [b'"text"']),
        ("[]", "scores", []),
    ],
)
def test_any_answer_becomes_a_tensor_in_v2(archive: Archive, returned: str, name: str, wanted: list[Any]) -> None:
    handler = f"def handle(data, context):\n    return data and [{returned} for _ in data]\n"
    model = archive("h.py", net=None, files={"h.py": handler})

    answer = model.infer([{"x": np.zeros((1, 28, 28), np.float32)}])[0]

    assert answer[name].tolist() == wanted


def test_a_handler_gets_each_input_of_v2_as_a_row(archive: Archive) -> None:
    handler = "def handle(data, context):\n    return data and [dict(row) for row in data]\n"
    model = archive("h.py", net=None, files={"h.py": handler})
    numbers = np.asarray([[1, 2]])
    two = np.empty(2, dtype=object)
    two[:] = [b"a", b"b"]

    answers = model.infer([{"x": numbers}, {"x": two}, {"x": two, "y": numbers}])

    rows = [{name: [json.loads(row) for row in array] for name, array in answer.items()} for answer in answers]
    ints = {"shape": [1, 2], "datatype": "INT64", "data": [[1, 2]]}
    texts = [{"name": "x", "shape": [2], "datatype": "BYTES", "data": text} for text in "ab"]
    assert rows == [{"x": [{"name": "x", **ints}]}, {"x": texts}, {"x": texts, "y": [{"name": "y", **ints}]}]


def test_bytes_of_v2_that_are_no_text_stay_bytes(archive: Archive) -> None:
    handler = "def handle(data, context):\n    return data and [type(row['data']).__name__ for row in data]\n"
    model = archive("h.py", net=None, files={"h.py": handler})
    two = np.empty(2, dtype=object)
    two[:] = [b"\xff\xd8", "ü".encode()]

    assert [json.loads(row) for row in model.infer([{"x": two}])[0]["x"]] == ["bytes", "str"]


def test_a_function_can_be_named_as_handler(archive: Archive, tmp_path: Path) -> None:
    handler = "def answer(data, context):\n    return data and [context.manifest['model']['modelName'] for _ in data]\n"
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "h.py").write_text(handler)

    model = archive(f"{folder}/h.py:answer", net=None)

    assert model.predict([1, 2]) == ["tiny", "tiny"]
    assert model.metadata.platform == "python_handler"


CONTEXT_HANDLER = """
from ts.context import Context
from ts.torch_handler.base_handler import BaseHandler
from ts.handler_utils.timer import timed
from ts.metrics.dimension import Dimension

class Look(BaseHandler):
    def initialize(self, context):
        assert isinstance(context, Context)
        self.facts = {
            "properties": sorted(context.system_properties),
            "config": context.model_yaml_config,
            "batch": context.system_properties["batch_size"],
        }
        self.context = context
        context.metrics.add_counter("starts", 1, None, [Dimension("a", "b")])

    @timed
    def preprocess(self, data):
        return data

    def handle(self, data, context):
        context.set_response_header(0, "x-seen", "yes")
        headers = [context.get_request_header(index, "explain") for index in range(len(data))]
        self.preprocess(data)
        return [self.facts | {"explain": header, "id": context.get_request_id(0)} for header in headers]
"""


def test_the_context_tells_the_handler_what_it_needs(archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("batchSize: 4\nhandler:\n  profile: true\n")
    model = archive("h.py", net=None, files={"h.py": CONTEXT_HANDLER}, config_file=tmp_path / "c.yaml")

    plain, explained = model.predict([1])[0], model.explain([1])[0]

    assert plain == {
        "properties": [
            "batch_size", "gpu_id", "limit_max_image_pixels", "model_dir", "server_name", "server_version",
        ],
        "config": {"batchSize": 4, "handler": {"profile": True}},
        "batch": 1,
        "explain": "False",
        "id": plain["id"],
    }  # fmt: skip
    assert explained["explain"] == "True"
    assert explained["id"] != plain["id"]


@pytest.mark.parametrize(
    ("body", "kind", "sentence"),
    [
        ("return [1]", ModelFailed, "gave 1 answers for 2 instances"),
        ("return {'a': 1}", ModelFailed, "gave a dict for 2 instances"),
        ("raise KeyError('who')", ModelFailed, "failed while answering: KeyError: 'who'"),
        ("raise PredictionException('bad age', 422)", InvalidInput, "bad age"),
        ("raise PredictionException('backend away', 503)", ModelFailed, "backend away"),
        ("context.set_response_status(400, 'no such city', 1); return [1, 2]", InvalidInput, "no such city"),
        ("context.set_all_response_status(500); return [1, 2]", ModelFailed, "answered 500"),
        ("raise MemoryError", Unavailable, "ran out of memory"),
    ],
)
def test_what_fails_in_a_handler_is_a_sentence(
    archive: Archive, body: str, kind: type[Exception], sentence: str
) -> None:
    handler = (
        "from ts.utils.util import PredictionException\n"
        f"def handle(data, context):\n    if data is None:\n        return\n    {body}\n"
    )
    model = archive("h.py", net=None, files={"h.py": handler})

    with pytest.raises(kind, match=sentence):
        model.predict([1, 2])


@pytest.mark.parametrize(
    ("handler", "sentence"),
    [
        ("import surely_not_installed", "cannot be imported: No module named 'surely_not_installed'.* lists numpy"),
        ("x = 1 +", "cannot be imported: SyntaxError"),
        ("x = 1", "must define exactly one handler class; it defines none"),
        ("class A:\n    def handle(self): ...\nclass B:\n    def handle(self): ...", "it defines A, B"),
        ("def handle(data, context):\n    raise OSError('gone')", "failed while starting: OSError: gone"),
    ],
)
def test_code_that_cannot_be_used_is_refused_at_load(archive: Archive, handler: str, sentence: str) -> None:
    with pytest.raises((InvalidInput, ModelFailed), match=sentence):
        archive("h.py", net=None, files={"h.py": handler, "requirements.txt": "numpy\n"})


@pytest.mark.parametrize(
    ("net", "state", "sentence"),
    [
        ("class A: ...", {"a": torch.ones(1)}, "exactly one Module class; it defines none"),
        (
            "from torch.nn import Module\nclass A(Module): ...\nclass B(Module): ...",
            {"a": torch.ones(1)},
            "it defines A, B",
        ),
        ("from torch import nn\nclass A(nn.Linear):\n    def __init__(self): super().__init__(2, 2)",
         {"weight": torch.ones(3, 3), "bias": torch.ones(2)}, "does not fit A: size mismatch for weight"),
        (None, None, "neither a model file nor a serialized file"),
    ],
)  # fmt: skip
def test_a_model_that_cannot_be_made_is_refused_at_load(
    archive: Archive, net: str | None, state: Any, sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        archive("base_handler", net=net, state=state)


def test_a_configuration_that_is_not_yaml_is_refused(archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("a: [1\n")

    with pytest.raises(InvalidInput, match=r"c.yaml is not YAML"):
        archive("h.py", net=None, files={"h.py": CONTEXT_HANDLER}, config_file=tmp_path / "c.yaml")


def test_the_names_of_torchserve_are_known_to_model_processes_only() -> None:
    assert "ts" not in sys.modules
    with pytest.raises(ImportError):
        __import__("ts.torch_handler.base_handler")
