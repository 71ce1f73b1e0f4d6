"""Tensors from and to JSON and memory: exact both ways, and refused with the input, the wanted and the got."""

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from resolute.domain.errors import InvalidInput
from resolute.serving.model import NUMPY_TYPES, datatype_of
from resolute.serving.protocol.tensors import read_tensor, write_binary, write_json
from resolute.serving.worker_frames import TensorHead

NUMERIC = sorted(set(NUMPY_TYPES) - {"BYTES"})
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


@st.composite
def tensors(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    datatype = draw(st.sampled_from(NUMERIC))
    return draw(hnp.arrays(NUMPY_TYPES[datatype], draw(SHAPES)))


def head(array: np.ndarray[Any, Any], *, is_json: bool, name: str = "x") -> TensorHead:
    return TensorHead(name, datatype_of(array), list(array.shape), is_json)


@given(tensors())
def test_memory_comes_back_bit_for_bit(array: np.ndarray[Any, Any]) -> None:
    again = read_tensor(head(array, is_json=False), write_binary(array))

    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert again.tobytes() == array.tobytes()


@given(tensors(), st.booleans())
def test_json_comes_back_equal_with_null_for_what_is_not_finite(array: np.ndarray[Any, Any], is_nested: bool) -> None:
    data = msgspec.json.encode(array.tolist()) if is_nested and array.ndim else write_json("x", array)

    again = read_tensor(head(array, is_json=True), data)

    wanted = np.where(np.isfinite(array), array, np.nan) if array.dtype.kind == "f" else array
    assert again.dtype == array.dtype
    np.testing.assert_array_equal(again, wanted)


@given(st.lists(st.binary(max_size=20), max_size=6))
def test_byte_strings_come_back_from_memory(values: list[bytes]) -> None:
    array = np.empty(len(values), dtype=object)
    array[:] = values

    again = read_tensor(head(array, is_json=False), write_binary(array))

    assert again.tolist() == values


def test_byte_strings_are_four_little_endian_bytes_of_length_and_the_bytes() -> None:
    assert write_binary(np.array([b"ab", "é"], dtype=object)) == b"\x02\x00\x00\x00ab\x02\x00\x00\x00\xc3\xa9"


def test_strings_in_json_may_be_nested() -> None:
    again = read_tensor(TensorHead("t", "BYTES", [2, 1], True), b'[["a"],["b"]]')

    assert again.tolist() == [[b"a"], [b"b"]]


def test_memory_that_starts_anywhere_becomes_an_aligned_writable_tensor() -> None:
    data = memoryview(bytearray(b"\x00" + np.arange(3, dtype="<f8").tobytes()))[1:]

    again = read_tensor(TensorHead("x", "FP64", [3], False), data)

    assert again.flags.aligned
    assert again.flags.writeable


def test_big_endian_tensors_leave_as_little_endian() -> None:
    assert write_binary(np.array([1], dtype=">i2")) == b"\x01\x00"


def test_numbers_that_json_has_no_word_for_are_null() -> None:
    assert write_json("y", np.array([math.nan, math.inf, 1.5])) == b"[null,null,1.5]"


@pytest.mark.parametrize(
    ("datatype", "shape", "data", "words"),
    [
        ("FP32", [3], b"[1,2]", r"'x' has shape \[3\], which is 3 values; got 2"),
        ("FP32", [2, 2], b"[[1,2,3,4]]", r"shape \[2, 2\], but its data is nested as \[1, 4\]"),
        ("FP32", [2], b"[[1],[2,3]]", "rows of different lengths"),
        ("FP32", [2], b'["1","2"]', "'x' is FP32: it wants numbers, got strings"),
        ("FP32", [2], b"[true,false]", "wants numbers, got booleans"),
        ("FP32", [2], b'[null,"a"]', "wants numbers"),
        ("FP32", [1], b"7", "data of type int; it must be a list"),
        ("FP32", [1], b'{"a":1}', "data of type dict"),
        ("INT32", [2], b"[1,2.5]", "'x' is INT32: it wants whole numbers, got numbers with fractions"),
        ("INT8", [2], b"[1,300]", "'x' is INT8: 300 is outside -128 to 127"),
        ("UINT8", [1], b"[-1]", "-1 is outside 0 to 255"),
        ("INT64", [1], b"[99999999999999999999999]", "INT64"),
        ("BOOL", [1], b"[1]", "'x' is BOOL: it wants true or false, got whole numbers"),
        ("BYTES", [1], b"[1]", "'x' is BYTES: it wants strings, got int"),
        ("BYTES", [3], b'["a"]', "3 values; got 1"),
        ("FP32", [10**12], b"[1]", "which is 1000000000000 values; got 1"),
    ],
)
def test_json_that_does_not_fit_is_refused(datatype: str, shape: list[int], data: bytes, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_tensor(TensorHead("x", datatype, shape, True), data)


@pytest.mark.parametrize(
    ("datatype", "shape", "data", "words"),
    [
        ("FP32", [2], b"1234", r"shape \[2\] and datatype FP32 is 8 bytes; got 4"),
        ("INT8", [10**15], b"1234", "is 1000000000000000 bytes; got 4"),
        ("BYTES", [1], b"\x05\x00\x00\x00ab", "BYTES value at byte 0 is longer than what follows"),
        ("BYTES", [1], b"\x05\x00", "at byte 0"),
        ("BYTES", [2], b"\x01\x00\x00\x00a", "2 values; got 1"),
    ],
)
def test_memory_that_does_not_fit_is_refused(datatype: str, shape: list[int], data: bytes, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_tensor(TensorHead("x", datatype, shape, False), data)


def test_bytes_that_are_no_text_are_offered_as_binary() -> None:
    with pytest.raises(InvalidInput, match=r"Output 'y' holds bytes that are not UTF-8 text. Ask for it with"):
        write_json("y", np.array([b"\xff"], dtype=object))


@pytest.mark.parametrize(
    ("shape", "datatype", "data", "found"),
    [
        ([-1], "BYTES", b'["aGk=", "eA=="]', [2]),
        ([-1, 2], "FP32", b"[1, 2, 3, 4, 5, 6]", [3, 2]),
        ([2, -1], "INT64", b"[[1, 2, 3], [4, 5, 6]]", [2, 3]),
        ([-1], "FP32", b"[]", [0]),
    ],
)
def test_a_size_of_minus_one_is_as_large_as_the_data_says(
    shape: list[int], datatype: str, data: bytes, found: list[int]
) -> None:
    assert list(read_tensor(TensorHead("x", datatype, shape, True), data).shape) == found


def test_a_size_of_minus_one_in_memory_is_as_large_as_the_memory() -> None:
    memory = np.arange(6, dtype="<f4").tobytes()

    assert read_tensor(TensorHead("x", "FP32", [-1, 3], False), memory).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("is_json", "data", "sentence"),
    [(True, b"[1, 2, 3]", "a multiple of 2 values; got 3"), (False, b"\0" * 12, "8 bytes or a multiple; got 12")],
)
def test_data_that_fills_no_whole_size_is_refused(is_json: bool, data: bytes, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        read_tensor(TensorHead("x", "FP32", [2, -1], is_json), data)
