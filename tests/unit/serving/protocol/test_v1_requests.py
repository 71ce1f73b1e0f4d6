"""V1 bodies: what is taken, what is refused, and with which words."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidInput
from resolute.serving.protocol.v1 import read_instances, write_answer

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text() | st.floats(allow_nan=False, width=32),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(JSON_VALUES, min_size=1, max_size=5))
def test_instances_reach_the_model_as_they_were_written(values: list[object]) -> None:
    instances = read_instances(msgspec.json.encode({"instances": values}))

    assert instances.count == len(values)
    assert msgspec.json.decode(instances.json) == msgspec.json.decode(msgspec.json.encode(values))


def test_other_fields_beside_the_instances_are_left_alone() -> None:
    instances = read_instances(b'{"signature_name": "x", "instances": [{"data": "aGk="}], "id": 3}')

    assert instances.json == b'[{"data": "aGk="}]'


def test_instances_may_be_called_inputs() -> None:
    assert read_instances(b'{"inputs": [[1], {"a": 2}]}').json == b'[[1],{"a": 2}]'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "no body"),
        (b'{"instances": [1, 2', r"not valid JSON: it ends too early \(byte 19\)"),
        (b'{"instances": [1,, 2]}', r"not valid JSON: invalid character \(byte 17\)"),
        (b'{"instances": [NaN]}', r"invalid character \(byte 15\)"),
        (b"[1, 2]", "Expected `object`, got `array`"),
        (b"{}", 'no "instances"'),
        (b'{"inputs": []}', '"instances" is empty'),
        (b'{"inputs": [1], "instances": [1]}', "which mean the same"),
        (b'{"instances": []}', '"instances" is empty'),
        (b'{"instances": {"a": 1}}', r"Expected `array`.*`\$.instances`"),
        (b'{"instances": null}', r"Expected `array`.*`\$.instances`"),
        (b'{"instances": [1]} x', r"trailing characters \(byte 20\)"),
        (b'{"instances": ' + b"[" * 100_000, "nested too deeply|ends too early"),
    ],
)
def test_what_is_no_request_is_refused_with_its_fault_and_what_to_send(body: bytes, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_instances(body)


def test_an_answer_is_the_models_array_under_the_verbs_name() -> None:
    assert b"".join(write_answer("predict", b"[1,2]")) == b'{"predictions":[1,2]}'
    assert b"".join(write_answer("explain", memoryview(b"[3]"))) == b'{"explanations":[3]}'
