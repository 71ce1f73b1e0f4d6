"""Frames between server and model process: whole, in order, however the stream is cut."""

from hypothesis import given
from hypothesis import strategies as st

from resolute.serving.model import ModelMetadata, TensorSpec
from resolute.serving.worker_frames import (
    Call,
    Done,
    FrameReader,
    Item,
    Outcome,
    Ready,
    Refused,
    Start,
    TensorHead,
    pack,
)

MESSAGES = [
    Start("/models/a", "m:f", {"score_threshold": 0.5, "names": ["a"]}),
    Call("infer", [Item(tensors=[TensorHead("x", "FP32", [1, 2], False)], wanted=[("y", True)], is_binary=True)]),
    Call("predict", [Item(instances=3), Item(instances=1)]),
    Ready(
        ModelMetadata(platform="onnx", inputs=(TensorSpec(name="x", datatype="FP32", shape=(-1, 3)),), extra={"a": 1})
    ),
    Refused("no such file", True),
    Done([Outcome([TensorHead("y", "INT64", [2], True)]), Outcome(code="invalid_input", message="no")]),
]


@given(
    st.lists(st.tuples(st.sampled_from(MESSAGES), st.lists(st.binary(max_size=50), max_size=3)), max_size=4),
    st.integers(1, 97),
)
def test_frames_arrive_whole_however_the_stream_is_cut(sent: list[tuple[object, list[bytes]]], piece: int) -> None:
    stream = b"".join(bytes(part) for message, buffers in sent for part in pack(message, buffers))  # type: ignore[arg-type]
    reader = FrameReader()

    received = [
        (message, [bytes(buffer) for buffer in buffers])
        for start in range(0, len(stream), piece)
        for message, buffers in reader.feed(stream[start : start + piece])
    ]

    assert received == sent


def test_buffers_are_not_copied_into_the_frame() -> None:
    big = bytearray(1000)

    assert pack(MESSAGES[2], [big])[1] is big
