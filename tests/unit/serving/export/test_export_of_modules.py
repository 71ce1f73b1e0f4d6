"""A user's own module leaves the platform and answers as it did."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.serving.export import export, open_source
from resolute.serving.loading import load_model
from resolute.serving.model import TensorSpec

pytestmark = pytest.mark.usefixtures("model_process")

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return torch.relu(self.layer(x))
"""
INPUT = TensorSpec(name="x", datatype="FP32", shape=(-1, 4))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "net"
    made.mkdir()
    (made / "model.py").write_text(NET)
    torch.manual_seed(0)
    layer = nn.Linear(4, 3)
    state = {f"module.layer.{name}": value for name, value in layer.state_dict().items()}
    torch.save({"model": state}, made / "model.pt")
    return made


def _rows(count: int) -> Any:
    return np.random.default_rng(count).random((count, 4)).astype(np.float32)


@pytest.mark.parametrize("export_format", ["torchscript", "onnx", "torch.export"])
def test_outputs_are_equal_before_and_after_for_any_batch(folder: Path, tmp_path: Path, export_format: str) -> None:
    before = load_model(folder, {})

    after = load_model(export(folder, export_format, tmp_path, inputs=[INPUT]), {})

    for count in (1, 5):
        rows = _rows(count)
        wanted = next(iter(before.infer([{"x": rows}])[0].values()))
        found = next(iter(after.infer([{"x": rows}])[0].values()))
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    assert [spec.shape for spec in after.metadata.inputs] == [(-1, 4)]
    with pytest.raises(InvalidInput, match=r"input 'x': wanted FP32 \[-1, 4\], got FP32 \[1, 3\]"):
        after.infer([{"x": np.zeros((1, 3), np.float32)}])


def test_onnxruntime_alone_runs_the_file(folder: Path, tmp_path: Path) -> None:
    path = export(folder, "onnx", tmp_path / "net.onnx", inputs=[INPUT])

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])

    assert session.run(None, {"x": _rows(7)})[0].shape == (7, 3)


def test_weights_alone_are_served_beside_the_code(folder: Path, tmp_path: Path) -> None:
    before = load_model(folder, {}).predict(_rows(2).tolist())

    export(folder, "safetensors", folder / "weights.safetensors")
    (folder / "model.pt").unlink()

    assert load_model(folder, {}).predict(_rows(2).tolist()) == before


def test_an_archive_of_a_module_is_served(folder: Path, tmp_path: Path) -> None:
    (folder / "index_to_name.json").write_text('{"0": "a", "1": "b", "2": "c"}')
    before = load_model(folder, {}).predict(_rows(1).tolist())

    path = export(folder, "mar", tmp_path, name="my-net")

    assert path.name == "my-net.mar"
    np.testing.assert_allclose(load_model(path, {}).predict(_rows(1).tolist()), before, rtol=1e-5)


def test_a_module_in_hand_is_exported(tmp_path: Path) -> None:
    module = nn.Linear(4, 2)

    path = export(module, "torchscript", tmp_path / "linear.pt")

    found = load_model(path, {}).infer([{"input": _rows(2)}])[0]["output"]
    np.testing.assert_allclose(found, module.eval()(torch.from_numpy(_rows(2))).detach().numpy(), rtol=1e-6)


def test_code_that_torchscript_does_not_understand_is_traced(tmp_path: Path) -> None:
    class Dynamic(nn.Module):
        def forward(self, x: Any) -> Any:
            return getattr(x, "exp")()  # noqa: B009 - what TorchScript cannot read

    path = export(Dynamic(), "torchscript", tmp_path / "d.pt", inputs=[INPUT])

    found = load_model(path, {}).infer([{"x": np.zeros((3, 4), np.float32)}])[0]["output"]
    assert found.tolist() == np.ones((3, 4)).tolist()


@pytest.mark.parametrize("export_format", ["onnx", "torch.export"])
def test_the_shape_of_inputs_is_asked_for_where_it_is_needed(folder: Path, tmp_path: Path, export_format: str) -> None:
    with pytest.raises(InvalidInput, match="--input-shape -1,3,224,224"):
        export(folder, export_format, tmp_path)


def test_code_that_cannot_be_exported_is_refused_with_other_formats(tmp_path: Path) -> None:
    class Loop(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            while float(x.sum()) > 1:
                x = x / 2
            return x

    with pytest.raises(NotSupported, match=r"loop cannot be exported as torch.export: .*Formats that work: safe"):
        export(Loop(), "torch.export", tmp_path, inputs=[INPUT])


def test_an_archive_needs_the_code(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"needs the code of linear: export a folder with model.py"):
        export(nn.Linear(1, 1), "mar", tmp_path)


def test_more_shapes_than_inputs_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"takes 1 inputs \(input\); shapes of 2 were given"):
        open_source(nn.Linear(1, 1), inputs=[INPUT, INPUT])


def test_a_folder_that_cannot_be_exported_says_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")

    with pytest.raises(InvalidInput, match=r"holds notes.txt. Exported is a folder with detector.json"):
        open_source(tmp_path)
    with pytest.raises(InvalidInput, match="is not a folder"):
        open_source(tmp_path / "gone")
