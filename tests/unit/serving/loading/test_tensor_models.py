"""Tensor programs: inputs are checked by name, type and shape; rows run together and come apart again."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.serving.model import TensorSpec
from resolute.serving.runtimes.tensors import Arrays, Signature, TensorModel, from_outputs

X = TensorSpec(name="x", datatype="FP32", shape=(-1, 2))
ONE = Signature(names=("x",), specs=(X,))


class Twice:
    def __init__(self) -> None:
        self.calls: list[dict[str, tuple[int, ...]]] = []

    def __call__(self, inputs: Arrays) -> Arrays:
        self.calls.append({name: array.shape for name, array in inputs.items()})
        return {"y": next(iter(inputs.values())) * 2}


def test_v1_rows_run_as_one_batch() -> None:
    run = Twice()

    answers = TensorModel(run, ONE, "onnx").predict([[1, 2], {"data": [3, 4]}, {"x": [5, 6]}])

    assert answers == [[2, 4], [6, 8], [10, 12]]
    assert run.calls == [{"x": (3, 2)}]


def test_v2_requests_of_several_rows_run_together_and_come_apart() -> None:
    run = Twice()
    requests = [{"x": np.full((rows, 2), rows, np.float32)} for rows in (1, 3, 2)]

    answers = TensorModel(run, ONE, "onnx").infer(requests)

    assert [answer["y"].tolist() for answer in answers] == [[[2, 2]], [[6, 6]] * 3, [[4, 4]] * 2]
    assert run.calls == [{"x": (6, 2)}]


def test_inputs_of_different_shapes_run_apart_in_order() -> None:
    run = Twice()
    open_ = Signature(names=("x",))

    answers = TensorModel(run, open_, "m").predict([[1.0], [1.0, 2.0], [3.0]])

    assert answers == [[2.0], [2.0, 4.0], [6.0]]
    assert sorted(call["x"] for call in run.calls) == [(1, 2), (2, 1)]


def test_a_fixed_batch_is_never_joined() -> None:
    run = Twice()
    fixed = Signature(names=("x",), specs=(TensorSpec(name="x", datatype="FP32", shape=(1, 2)),))

    TensorModel(run, fixed, "m").predict([[1, 2], [3, 4]])

    assert run.calls == [{"x": (1, 2)}] * 2


def test_a_model_whose_answer_has_no_rows_runs_one_by_one() -> None:
    def total(inputs: Arrays) -> Arrays:
        return {"sum": np.asarray(inputs["x"].sum())}

    assert TensorModel(total, ONE, "m").predict([[1, 2], [3, 4]]) == [3.0, 7.0]


def test_several_inputs_and_outputs_go_by_name() -> None:
    both = Signature(names=("a", "b"))

    def run(inputs: Arrays) -> Arrays:
        return {"sum": inputs["a"] + inputs["b"], "product": inputs["a"] * inputs["b"]}

    assert TensorModel(run, both, "m").predict([{"a": [2], "b": [3]}]) == [{"sum": [5], "product": [6]}]


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"y": np.zeros((1, 2), np.float32)}, "wanted the inputs x; got y"),
        ({}, "wanted the inputs x; got none"),
        ({"x": np.zeros((1, 2))}, r"input 'x': wanted FP32 \[-1, 2\], got FP64 \[1, 2\]"),
        ({"x": np.zeros((1, 3), np.float32)}, r"wanted FP32 \[-1, 2\], got FP32 \[1, 3\]"),
        ({"x": np.zeros(2, np.float32)}, r"got FP32 \[2\]"),
    ],
)
def test_wrong_names_types_and_shapes_are_told(request_: Arrays, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        TensorModel(Twice(), ONE, "m").infer([request_])


@pytest.mark.parametrize(
    ("instance", "sentence"),
    [
        ([1, 2, 3], r"instance 1, input 'x': wanted FP32 \[-1, 2\], got FP32 \[1, 3\]"),
        ("text", "instance 1 input 'x' is not a rectangular block of float32 numbers"),
        ([[1], [2, 3]], "not a rectangular block"),
        ({"z": 1}, "instance 1, wanted the inputs x; got z"),
    ],
)
def test_the_bad_instance_is_named(instance: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        TensorModel(Twice(), ONE, "m").predict([[1, 2], instance])


def test_several_inputs_need_an_object() -> None:
    with pytest.raises(InvalidInput, match="must be an object with the inputs a, b"):
        TensorModel(Twice(), Signature(names=("a", "b")), "m").predict([[1]])


def test_what_the_program_refuses_is_told_with_what_it_got() -> None:
    def run(inputs: Arrays) -> Arrays:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied\nmore")

    with pytest.raises(InvalidInput, match=r"does not accept x FP32 \[1, 2\]: mat1 and mat2 shapes cannot be multi"):
        TensorModel(run, ONE, "m").predict([[1, 2]])


def test_it_does_not_explain() -> None:
    with pytest.raises(NotSupported):
        TensorModel(Twice(), ONE, "m").explain([[1, 2]])


def test_outputs_without_names_are_numbered() -> None:
    values = [np.zeros(1), np.ones(1)]

    assert list(from_outputs(values[:1], [])) == ["output"]
    assert list(from_outputs(values, [])) == ["output_0", "output_1"]
    assert list(from_outputs(values, ["a", "b"])) == ["a", "b"]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_any_mix_of_requests_is_answered_as_alone(rows: list[int]) -> None:
    requests = [{"x": np.full((count, 2), index, np.float32)} for index, count in enumerate(rows)]
    model = TensorModel(Twice(), ONE, "m")

    together = model.infer(requests)

    alone = [model.infer([request])[0] for request in requests]
    assert [answer["y"].tolist() for answer in together] == [answer["y"].tolist() for answer in alone]
