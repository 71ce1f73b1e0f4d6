"""A detector that leaves the platform answers as it did, in every format that works for it."""

import base64
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from safetensors import safe_open
from torch import nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.ops import MultiScaleRoIAlign, batched_nms

from resolute.domain.errors import AlreadyExists, InvalidInput, NotSupported
from resolute.serving.export import Exportable, ExportFormat, export, strip_checkpoint
from resolute.serving.export.detectors import traceable_suppression
from resolute.serving.export.formats import SUFFIXES, formats_of
from resolute.serving.limits import ModelFailed
from resolute.serving.loading import load_model
from resolute.serving.runtimes.exported_detector import ExportedDetector

pytestmark = pytest.mark.usefixtures("model_process")


def _pictures() -> list[NDArray[np.uint8]]:
    rng = np.random.default_rng(1)
    return [rng.integers(0, 256, (height, width, 3), dtype=np.uint8) for height, width in ((50, 70), (81, 44))]


def _wanted(source: Exportable, picture: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
    with torch.inference_mode():
        found = source.module([torch.from_numpy(picture).permute(2, 0, 1) / 255])[0]
    return {name: found[name].numpy() for name in ("boxes", "scores", "labels")}


@pytest.mark.parametrize("export_format", ["torchscript", "onnx", "torch.export"])
def test_the_exported_file_is_served_with_equal_boxes_for_any_size(
    ssd: Exportable, tmp_path: Path, export_format: str
) -> None:
    model = load_model(export(ssd, export_format, tmp_path), {})

    for picture in _pictures():
        wanted, found = _wanted(ssd, picture), model.infer([{"image": picture}])[0]
        assert len(found["scores"]) > 3
        for name, values in wanted.items():
            np.testing.assert_allclose(found[name], values, rtol=1e-3, atol=1e-3)
    assert model.metadata.platform == "pytorch_detector"
    assert model.metadata.extra["architecture"] == "small_ssd"
    assert model.metadata.extra["classes"][0] == {"id": 11, "name": "Fixed-wing Aircraft"}


def test_onnxruntime_alone_runs_the_onnx_file(ssd: Exportable, tmp_path: Path) -> None:
    path = export(ssd, "onnx", tmp_path / "aircraft.onnx")

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    boxes, scores, labels = session.run(["boxes", "scores", "labels"], {"image": _pictures()[0]})

    assert boxes.shape == (len(scores), 4)
    assert labels.dtype == np.int64
    assert [value.shape for value in session.get_inputs()] == [["height", "width", 3]]


def test_score_threshold_applies_to_exported_files_too(ssd: Exportable, tmp_path: Path) -> None:
    path = export(ssd, "torchscript", tmp_path)
    picture = _pictures()[0]
    scores = _wanted(ssd, picture)["scores"]

    model = load_model(path, {"score_threshold": float(scores[2])})

    assert len(model.infer([{"image": picture}])[0]["scores"]) == 3


def test_an_archive_answers_in_the_form_of_detection_handlers(ssd: Exportable, tmp_path: Path) -> None:
    path = export(ssd, "mar", tmp_path / "aircraft.mar", version="2.1")
    target = io.BytesIO()
    Image.fromarray(_pictures()[0]).save(target, "PNG")

    model = load_model(path, {})
    rows = model.predict([{"data": base64.b64encode(target.getvalue()).decode()}])[0]

    wanted = _wanted(ssd, _pictures()[0])
    above = wanted["scores"] >= 0.5
    assert [row["score"] for row in rows] == pytest.approx(wanted["scores"][above].tolist(), abs=1e-5)
    with zipfile.ZipFile(path) as archive:
        assert set(archive.namelist()) == {"model.pt", "index_to_name.json", "MAR-INF/MANIFEST.json"}
        names = json.loads(archive.read("index_to_name.json"))
        manifest = json.loads(archive.read("MAR-INF/MANIFEST.json"))
    assert names == {"0": "__background__", "1": "Fixed-wing Aircraft", "2": "Small Aircraft", "3": "Cargo Plane"}
    assert manifest["model"] == {
        "modelName": "aircraft",
        "serializedFile": "model.pt",
        "handler": "object_detector",
        "modelVersion": "2.1",
    }


def test_weights_alone_keep_the_note(ssd: Exportable, tmp_path: Path) -> None:
    path = export(ssd, "safetensors", tmp_path)

    with safe_open(path, "pt") as file:
        assert json.loads(file.metadata()["resolute.json"])["dataset"] == "xview:3"
    state = ssd.module.state_dict()
    assert all(torch.equal(value, state[name]) for name, value in strip_checkpoint(path).items())


def test_a_detector_of_the_zoo_is_exported_from_its_folder(detector_folder: Path, tmp_path: Path) -> None:
    picture = _pictures()[0]
    wanted = load_model(detector_folder, {}).infer([{"image": picture}])[0]

    path = export(detector_folder, "onnx", tmp_path, image_size=(60, 80))
    found = load_model(path, {}).infer([{"image": picture}])[0]

    assert path.name == "ssdlite320_mobilenet_v3_large.onnx"
    assert found["class_names"].tolist() == wanted["class_names"].tolist()
    np.testing.assert_allclose(found["boxes"], wanted["boxes"], rtol=1e-3, atol=0.01)


def _two_stage() -> Exportable:
    trunk = nn.Sequential(nn.Conv2d(3, 8, 3, stride=8, padding=1))
    trunk.out_channels = 8  # type: ignore[assignment]
    anchors = AnchorGenerator(((16, 32),), ((1.0,),))
    pool = MultiScaleRoIAlign(["0"], 3, 2)
    model = FasterRCNN(trunk, 3, rpn_anchor_generator=anchors, box_roi_pool=pool, min_size=64, max_size=64)
    return Exportable(module=model.eval(), name="small_rcnn", note={"kind": "detector", "classes": []})


def test_what_cannot_be_exported_is_refused_with_the_formats_that_work(tmp_path: Path) -> None:
    with pytest.raises(NotSupported) as refused:
        export(_two_stage(), "torch.export", tmp_path)

    assert "small_rcnn cannot be exported as torch.export" in str(refused.value)
    assert "Formats that work: safetensors, torchscript, onnx, mar" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_answers_otherwise_is_not_kept(ssd: Exportable, tmp_path: Path) -> None:
    class Forgetful(nn.Module):
        """Remembers how often it was asked: what was watched is not what runs."""

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("asked", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if torch.jit.is_tracing() or torch.compiler.is_exporting():
                return x * 3
            return x * 2

    source = Exportable(
        module=Forgetful().eval(),
        name="forgetful",
        example=(torch.ones(2, 2),),
        input_names=("x",),
        note={"inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 2]}]},
    )

    with pytest.raises(ModelFailed, match="answers otherwise than the model: output 0 differs by up to 1"):
        export(source, "torch.export", tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("export_format", list(ExportFormat))
def test_what_is_there_is_replaced_by_force_only(ssd: Exportable, tmp_path: Path, export_format: ExportFormat) -> None:
    path = tmp_path / f"small_ssd{SUFFIXES[export_format]}"
    path.write_bytes(b"old")

    with pytest.raises(AlreadyExists, match="--force"):
        export(ssd, export_format, tmp_path)

    assert path.read_bytes() == b"old"


def test_force_replaces(ssd: Exportable, tmp_path: Path) -> None:
    path = tmp_path / "small_ssd.safetensors"
    path.write_bytes(b"old")

    export(ssd, "safetensors", path, force=True)

    assert strip_checkpoint(path)


@pytest.mark.parametrize(
    ("export_format", "out", "sentence"),
    [
        ("tflite", "x.tflite", "There is no format 'tflite'; there are safetensors, torchscript, onnx"),
        ("onnx", "x.pt", r"--out x.pt does not fit onnx: such files end in .onnx"),
        ("onnx", "gone/x.onnx", "does not exist"),
        ("mar", "bad name.mar", "cannot be the name of a model"),
    ],
)
def test_bad_requests_are_refused(ssd: Exportable, tmp_path: Path, export_format: str, out: str, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        export(ssd, export_format, tmp_path / out)


def test_a_program_of_a_fixed_size_tells_pictures_of_others() -> None:
    def call(image: NDArray[np.uint8]) -> list[NDArray[np.float32]]:
        return [np.zeros((1, 4), np.float32), np.ones(1, np.float32), np.ones(1, np.float32)]

    detector = ExportedDetector(call, {"classes": [{"id": 3, "name": "ship"}], "image_size": [50, 70]})

    assert len(detector.detect([_pictures()[0]])[0]) == 1
    with pytest.raises(InvalidInput, match="The picture is 44 x 81; this program was exported for 70 x 50 only"):
        detector.detect([_pictures()[1]])


def test_suppression_in_a_trace_keeps_the_same_boxes() -> None:
    generator = torch.Generator().manual_seed(0)
    corners = torch.rand(300, 2, generator=generator) * 100
    boxes = torch.cat([corners, corners + torch.rand(300, 2, generator=generator) * 40], dim=1)
    scores, labels = torch.rand(300, generator=generator), torch.randint(1, 5, (300,), generator=generator)
    wanted = batched_nms(boxes, scores, labels, 0.5)

    with traceable_suppression():
        from torchvision.ops import boxes as operators

        found = operators.batched_nms(boxes, scores, labels, 0.5)
        empty = operators.batched_nms(boxes[:0], scores[:0], labels[:0], 0.5)

    assert found.tolist() == wanted.tolist()
    assert empty.tolist() == []


def test_formats_are_told_by_kind(ssd: Exportable) -> None:
    assert set(formats_of(ssd)) == set(ExportFormat)
    assert ExportFormat.TORCH_EXPORT not in formats_of(_two_stage())
    assert ExportFormat.TORCHSCRIPT not in formats_of(replace(ssd, module=nn.Linear(1, 1)))
