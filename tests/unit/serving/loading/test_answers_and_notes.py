"""Detections as answers, notes in exported files, and the settings of TorchServe folders."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper
from torch import nn

from resolute.domain.errors import InvalidInput
from resolute.serving.detections import as_objects, as_tensors, name_of, names_of, span
from resolute.serving.loading import load_model
from resolute.serving.notes import NOTE, read_note, unreadable
from resolute.serving.programs import is_program, is_script
from resolute.serving.runtimes.model_store import read_properties
from resolute.vision.detections import ClassName, Detections

NAMES = names_of([ClassName(40, "ship"), ClassName(7, "tower")])


def _found(labels: list[int]) -> Detections:
    count = len(labels)
    boxes = np.arange(count * 4, dtype=np.float32).reshape(count, 4)
    return Detections(boxes, np.linspace(1, 0.5, count, dtype=np.float32), np.asarray(labels, np.int64))


def test_labels_begin_at_one_whatever_the_ids_in_the_label_file() -> None:
    assert NAMES == {1: "ship", 2: "tower"}
    assert span(NAMES) == "2 names, from 1 to 2"
    assert span({}) == "no names"


def test_objects_have_two_keys_class_first() -> None:
    objects = as_objects(_found([2, 1]), NAMES)

    assert [list(row) for row in objects] == [["tower", "score"], ["ship", "score"]]
    assert json.loads(json.dumps(objects))[0]["tower"] == [0.0, 1.0, 2.0, 3.0]


@given(st.lists(st.integers(1, 2), max_size=20))
def test_tensors_agree_in_length(labels: list[int]) -> None:
    tensors = as_tensors(_found(labels), NAMES)

    assert {len(array) for array in tensors.values()} == {len(labels)}
    assert [name.decode() for name in tensors["class_names"]] == [NAMES[label] for label in labels]


@pytest.mark.parametrize("label", [0, 3, -1])
def test_a_label_without_a_name_is_refused(label: int) -> None:
    with pytest.raises(InvalidInput, match=rf"class {label}, which has no name"):
        name_of(label, NAMES)


@pytest.mark.parametrize(("text", "wanted"), [("", {}), ("{", {}), ("[1]", {}), ('{"kind": "x"}', {"kind": "x"})])
def test_a_note_that_is_none_is_empty(text: str, wanted: dict[str, Any]) -> None:
    assert read_note(text) == wanted


def test_a_refusal_has_one_line() -> None:
    assert str(unreadable(Path("a/b.onnx"), "ONNX", RuntimeError("\n first\nsecond"))) == (
        "b.onnx cannot be read as ONNX:  first."
    )
    assert "ValueError" in str(unreadable(Path("x"), "ONNX", ValueError()))


def test_kinds_of_zip_files_are_told_apart(tmp_path: Path) -> None:
    layer = nn.Linear(2, 1)
    torch.save(layer.state_dict(), tmp_path / "state.pt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(layer), tmp_path / "script.pt")
    torch.export.save(torch.export.export(layer, (torch.zeros(1, 2),)), tmp_path / "program.pt2")
    (tmp_path / "text.pt").write_text("x")

    kinds = {path.name: (is_script(path), is_program(path)) for path in tmp_path.iterdir()}

    assert kinds == {
        "state.pt": (False, False),
        "script.pt": (True, False),
        "program.pt2": (False, True),
        "text.pt": (False, False),
    }


def test_properties_are_read_as_java_does() -> None:
    text = '# comment\n! another\na=1\n b = two words \nlong={\\\n"x": 1}\nurl=http://h:1/?q=2\nnothing\n=no key\n'

    assert read_properties(text) == {"a": "1", "b": "two words", "long": '{"x": 1}', "url": "http://h:1/?q=2"}


def _onnx(path: Path, kind: int, note: str | None = None) -> Path:
    """y = x + x, of rows of two."""
    x = helper.make_tensor_value_info("x", kind, ["batch", 2])
    y = helper.make_tensor_value_info("y", kind, ["batch", 2])
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "twice", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    if note is not None:
        helper.set_model_props(model, {NOTE: note})
    onnx.save(model, path)
    return path


@pytest.mark.parametrize(
    ("kind", "datatype", "dtype"),
    [
        (TensorProto.FLOAT, "FP32", np.float32),
        (TensorProto.DOUBLE, "FP64", np.float64),
        (TensorProto.INT64, "INT64", np.int64),
    ],
)
def test_an_onnx_file_of_others_is_served_with_its_own_types(
    tmp_path: Path, kind: int, datatype: str, dtype: type
) -> None:
    model = load_model(_onnx(tmp_path / "m.onnx", kind), {})

    answer = model.infer([{"x": np.ones((1, 2), dtype)}, {"x": np.ones((3, 2), dtype)}])

    assert (model.metadata.inputs[0].datatype, model.metadata.inputs[0].shape) == (datatype, (-1, 2))
    assert [each["y"].shape for each in answer] == [(1, 2), (3, 2)]
    assert model.predict([[1, 2], [3, 4]]) == [[2, 4], [6, 8]]


def test_a_broken_note_does_no_harm(tmp_path: Path) -> None:
    model = load_model(_onnx(tmp_path / "m.onnx", TensorProto.FLOAT, note="{broken"), {})

    assert model.metadata.platform == "onnx"
