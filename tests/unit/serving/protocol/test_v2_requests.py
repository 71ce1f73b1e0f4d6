"""V2 bodies over REST: JSON alone, and JSON followed by binary tensors."""

from typing import Any

import msgspec
import pytest

from resolute.domain.errors import InvalidInput
from resolute.serving.protocol.v2 import read_request, write_answer
from resolute.serving.worker_frames import Outcome, TensorHead


def body_of(*inputs: dict[str, Any], **fields: Any) -> bytes:
    return msgspec.json.encode({"inputs": list(inputs), **fields})


def tensor(name: str = "x", **changes: Any) -> dict[str, Any]:
    return {"name": name, "shape": [2], "datatype": "FP32", "data": [1, 2], **changes}


def test_a_request_keeps_names_types_shapes_and_the_bytes_of_its_data() -> None:
    request = read_request(body_of(tensor("a"), tensor("b", datatype="INT8", shape=[1, 2], data=[[3, 4]]), id="r7"))

    assert request.id == "r7"
    assert request.item.tensors == [TensorHead("a", "FP32", [2], True), TensorHead("b", "INT8", [1, 2], True)]
    assert request.buffers == [b"[1,2]", b"[[3,4]]"]
    assert request.item.wanted is None


def test_a_number_as_id_is_echoed_as_text() -> None:
    assert read_request(body_of(tensor(), id=12)).id == "12"


def test_binary_inputs_are_cut_out_of_what_follows_the_json() -> None:
    first = {"name": "a", "shape": [2], "datatype": "UINT8", "parameters": {"binary_data_size": 2}}
    second = {"name": "c", "shape": [1], "datatype": "INT16", "parameters": {"binary_data_size": 2}}
    json = body_of(first, tensor("b"), second)

    request = read_request(json + b"\x01\x02\x03\x04", str(len(json)))

    assert [bytes(part) for part in request.buffers] == [b"\x01\x02", b"[1,2]", b"\x03\x04"]
    assert [head.is_json for head in request.item.tensors] == [False, True, False]


@pytest.mark.parametrize(
    ("parameters", "outputs", "wanted", "is_binary"),
    [
        ({}, None, None, False),
        ({"binary_data_output": True}, None, None, True),
        ({}, [{"name": "y"}], [("y", False)], False),
        ({}, [{"name": "y", "parameters": {"binary_data": True}}], [("y", True)], False),
        ({"binary_data_output": True}, [{"name": "y"}], [("y", True)], True),
        ({"binary_data_output": True}, [{"name": "y", "parameters": {"binary_data": False}}], [("y", False)], True),
        ({}, [], None, False),
    ],
)
def test_outputs_come_back_as_they_were_asked_for(
    parameters: dict[str, Any], outputs: Any, wanted: Any, is_binary: bool
) -> None:
    request = read_request(body_of(tensor(), parameters=parameters, outputs=outputs))

    assert (request.item.wanted, request.item.is_binary) == (wanted, is_binary)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "no body"),
        (b'{"inputs": [}', r"byte 12"),
        (b"{}", "missing required field `inputs`"),
        (body_of(), '"inputs" is empty'),
        (body_of({"name": "x", "datatype": "FP32", "data": [1]}), "missing required field `shape`"),
        (body_of(tensor(shape=["a"])), r"Expected `int`, got `str` - at `\$.inputs\[0\].shape"),
        (body_of(tensor(shape=[-2])), "'x' has shape .-2.; sizes cannot be negative, but for one that is -1"),
        (body_of(tensor(shape=[-1, -1])), "'x' has shape .-1, -1.; sizes cannot be negative"),
        (body_of(tensor(datatype="FLOAT")), "'x' has datatype 'FLOAT'; known are BOOL"),
        (body_of(tensor(datatype="BF16")), "datatype 'BF16'"),
        (body_of(tensor(), tensor()), "'x' is given twice"),
        (body_of({"name": "x", "shape": [1], "datatype": "FP32"}), "neither data nor binary_data_size"),
        (body_of(tensor(parameters={"binary_data_size": 4})), "both data and binary_data_size"),
        (body_of({**tensor(), "data": [], "parameters": {"binary_data_size": 4}}), "both data and"),
    ],
)
def test_what_is_no_request_is_refused_with_the_input_at_fault(body: bytes, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_request(body)


@pytest.mark.parametrize("size", [-1, 1.5, "4", True])
def test_a_binary_size_is_a_number_of_bytes(size: Any) -> None:
    body = body_of({"name": "x", "shape": [1], "datatype": "FP32", "parameters": {"binary_data_size": size}})

    with pytest.raises(InvalidInput, match="must be a number of bytes"):
        read_request(body, str(len(body)))


def test_binary_data_must_be_exactly_what_the_inputs_announce() -> None:
    json = body_of({"name": "x", "shape": [1], "datatype": "FP32", "parameters": {"binary_data_size": 4}})

    with pytest.raises(InvalidInput, match="'x' has binary_data_size 4, but only 3 bytes"):
        read_request(json + b"123", str(len(json)))
    with pytest.raises(InvalidInput, match="2 bytes of binary data belong to no input"):
        read_request(json + b"123456", str(len(json)))
    with pytest.raises(InvalidInput, match="Was Inference-Header-Content-Length sent"):
        read_request(json)


@pytest.mark.parametrize("length", ["-1", "x", "99999", "٣", ""])
def test_the_header_length_must_lie_within_the_body(length: str) -> None:
    with pytest.raises(InvalidInput, match="Inference-Header-Content-Length is"):
        read_request(body_of(tensor()), length)


def test_an_answer_in_json_has_the_data_in_place() -> None:
    outcome = Outcome([TensorHead("y", "FP32", [2], True)])

    body = write_answer("m", "3", "r1", outcome, [b"[1.5,null]"])

    assert body.header_bytes is None
    assert msgspec.json.decode(b"".join(body.parts)) == {
        "model_name": "m",
        "model_version": "3",
        "id": "r1",
        "outputs": [{"name": "y", "datatype": "FP32", "shape": [2], "data": [1.5, None]}],
    }


def test_an_answer_without_an_id_has_none() -> None:
    body = write_answer("m", "1", "", Outcome([TensorHead("y", "INT8", [0], True)]), [b"[]"])

    assert "id" not in msgspec.json.decode(b"".join(body.parts))


def test_binary_outputs_follow_the_json_in_order_with_their_sizes() -> None:
    heads = [
        TensorHead("a", "UINT8", [2], False),
        TensorHead("b", "INT8", [1], True),
        TensorHead("c", "BOOL", [1], False),
    ]

    body = write_answer("m", "1", "", Outcome(heads), [b"\x01\x02", b"[7]", b"\x01"])

    whole = b"".join(body.parts)
    assert body.header_bytes is not None
    outputs = msgspec.json.decode(whole[: body.header_bytes])["outputs"]
    assert [output.get("parameters") for output in outputs] == [{"binary_data_size": 2}, None, {"binary_data_size": 1}]
    assert whole[body.header_bytes :] == b"\x01\x02\x01"
