"""Files of weights that are bent, or made to harm, are read or refused with a sentence; nothing else comes of them."""

import argparse
import json
import struct
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save

from resolute.domain.errors import ResoluteError
from resolute.serving.weights import strip_checkpoint

GOOD = save({"a": torch.arange(6.0).reshape(2, 3), "b": torch.zeros(1)})
MOST = 1 << 20


def read(content: bytes, name: str = "w.safetensors") -> dict[str, torch.Tensor] | None:
    """None when it was refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            return strip_checkpoint(path)
        except ResoluteError as refusal:
            assert "Traceback" not in str(refusal)  # noqa: PT017
            return None


def with_header(header: Any, data: bytes = bytes(64)) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 7,
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2**64 - 1) + b"{}",
        struct.pack("<Q", 100 << 20) + b"{}",
        with_header(b"{" * 100_000),
        with_header(b'{"a":' * 20_000),
        with_header({"a": {"dtype": "F32", "shape": [2**62, 2**62], "data_offsets": [0, 4]}}),
        with_header({"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}),
        with_header({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}),
        with_header({"a": {"dtype": "F32", "shape": [1], "data_offsets": [60, 64]}}),
        with_header({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}),
        with_header({"a": {"dtype": "X", "shape": [1], "data_offsets": [0, 4]}}),
        with_header({f"t{n}": {"dtype": "F32", "shape": [16], "data_offsets": [0, 64]} for n in range(5000)}),
        with_header({"__metadata__": {"a": 1}}),
        with_header([]),
    ],
)
def test_a_header_that_lies_is_refused(content: bytes) -> None:
    assert read(content) is None


def test_what_is_whole_is_read() -> None:
    found = read(GOOD)

    assert found is not None
    assert found["a"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@settings(max_examples=200, deadline=None)
@given(
    flips=st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=6),
    cut=st.none() | st.integers(0, len(GOOD)),
)
def test_bent_tensors_are_read_or_refused(flips: list[tuple[int, int]], cut: int | None) -> None:
    data = bytearray(GOOD)
    for at, value in flips:
        data[at] = value

    found = read(bytes(data[:cut]))

    assert sum(tensor.numel() for tensor in (found or {}).values()) <= MOST


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=4),
        st.fixed_dictionaries(
            {
                "dtype": st.sampled_from(["F32", "I64", "BOOL", "BF16", "F8_E4M3", "q"]),
                "shape": st.lists(st.integers(-2, 5) | st.integers(), max_size=4),
                "data_offsets": st.lists(st.integers(-1, 70) | st.integers(), max_size=3),
            }
        ),
        max_size=3,
    )
)
def test_any_header_is_read_or_refused(header: dict[str, Any]) -> None:
    read(with_header(header))


@settings(max_examples=60, deadline=None)
@given(noise=st.binary(max_size=200), name=st.sampled_from(["w.pt", "w.pth", "w.safetensors"]))
def test_any_bytes_are_read_or_refused(noise: bytes, name: str) -> None:
    read(noise, name)


def test_a_reference_checkpoint_with_its_arguments_is_stripped(tmp_path: Path) -> None:
    arguments = argparse.Namespace(lr=0.02, lr_steps=[16, 22], output_dir=Path("out"), resume="", test_only=False)
    state = {"model": {"module.w": torch.ones(2)}, "lr_scheduler": {"milestones": Counter({16: 1})}, "args": arguments}
    torch.save(state, tmp_path / "model_8.pth")

    assert strip_checkpoint(tmp_path / "model_8.pth")["w"].tolist() == [1, 1]
