"""Messages of the Open Inference Protocol, and what they become."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resolute.domain.errors import InvalidInput
from resolute.serving.grpc.codec import answer_fields, read_request
from resolute.serving.grpc.messages import COMPILED, message, methods
from resolute.serving.protocol.tensors import read_tensor, write_binary
from resolute.serving.worker_frames import Outcome, TensorHead

Request: Any = message("ModelInferRequest")
Response: Any = message("ModelInferResponse")


def test_the_compiled_protocol_is_that_of_the_source(tmp_path: Path) -> None:
    source = COMPILED.with_name("open_inference.proto")
    made = tmp_path / "made.binpb"

    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(source.parent), source.name]
    subprocess.run([*command, f"--descriptor_set_out={made}"], check=True)

    assert made.read_bytes() == COMPILED.read_bytes()


def test_the_service_has_the_protocols_calls() -> None:
    assert list(methods()) == [
        "ServerLive",
        "ServerReady",
        "ModelReady",
        "ServerMetadata",
        "ModelMetadata",
        "ModelInfer",
        "RepositoryModelLoad",
        "RepositoryModelUnload",
    ]


@pytest.mark.parametrize(
    ("datatype", "field", "values"),
    [
        ("BOOL", "bool_contents", [True, False]),
        ("INT8", "int_contents", [-128, 127]),
        ("INT32", "int_contents", [-1, 2**31 - 1]),
        ("INT64", "int64_contents", [-(2**63), 5]),
        ("UINT16", "uint_contents", [0, 65535]),
        ("UINT64", "uint64_contents", [0, 2**64 - 1]),
        ("FP32", "fp32_contents", [1.5, -2.0]),
        ("FP64", "fp64_contents", [1e300, 0.0]),
        ("BYTES", "bytes_contents", [b"a", b"\xff"]),
    ],
)
def test_typed_contents_mean_the_same_as_raw_ones(datatype: str, field: str, values: list[Any]) -> None:
    tensor = {"name": "x", "datatype": datatype, "shape": [2], "contents": {field: values}}

    request = read_request(Request(model_name="m", inputs=[tensor]))

    assert read_tensor(request.item.tensors[0], request.buffers[0]).tolist() == values
    fields = answer_fields(Outcome(request.item.tensors), request.buffers, is_raw=False)
    assert list(getattr(Response(**fields).outputs[0].contents, field)) == values


def test_raw_contents_are_passed_on_and_given_back_raw() -> None:
    data = write_binary(np.array([1.5, np.nan], dtype=np.float32))
    inputs = [{"name": "x", "datatype": "FP32", "shape": [2]}]

    request = read_request(Request(inputs=inputs, raw_input_contents=[data], outputs=[{"name": "y"}], id="7"))

    assert (request.buffers, request.id, request.item.wanted) == ([data], "7", [("y", True)])
    fields = answer_fields(Outcome(request.item.tensors), request.buffers, is_raw=True)
    assert list(Response(**fields).raw_output_contents) == [data]


def test_half_floats_have_no_typed_form_and_come_back_raw() -> None:
    fields = answer_fields(Outcome([TensorHead("y", "FP16", [1], False)]), [b"\x00\x3c"], is_raw=False)

    assert fields["raw_output_contents"] == [b"\x00\x3c"]


@pytest.mark.parametrize(
    ("inputs", "raw", "words"),
    [
        ([], [], "no inputs"),
        ([{"name": "x", "datatype": "FP32", "shape": [1]}], [b"", b""], "1 inputs, but 2 raw_input_contents"),
        ([{"name": "x", "datatype": "FP32", "shape": [1]}] * 2, [b"", b""], "given twice: x, x"),
        ([{"name": "x", "datatype": "F", "shape": [1]}], [], "datatype 'F'; known are"),
        ([{"name": "x", "datatype": "FP32", "shape": [-2]}], [], "cannot be negative"),
        ([{"name": "x", "datatype": "FP16", "shape": [1]}], [], "send it in raw_input_contents"),
        ([{"name": "x", "datatype": "FP32", "shape": [2]}], [], "2 values; fp32_contents has 0"),
        ([{"name": "x", "datatype": "FP32", "shape": [2, -1], "contents": {"fp32_contents": [1]}}], [], "has 1"),
        (
            [{"name": "x", "datatype": "INT8", "shape": [1], "contents": {"int_contents": [300]}}],
            [],
            "'x' is INT8: .*300",
        ),
    ],
)
def test_what_does_not_fit_is_refused(inputs: list[Any], raw: list[bytes], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_request(Request(inputs=inputs, raw_input_contents=raw))
