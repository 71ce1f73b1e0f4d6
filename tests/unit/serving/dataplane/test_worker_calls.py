"""What a model process does with a batch: each request ends by itself."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.serving.model import ModelMetadata, Tensor
from resolute.serving.worker_calls import answer
from resolute.serving.worker_frames import Call, Item, TensorHead


class Picky:
    """Doubles numbers. Refuses 13, breaks on 0, and remembers the sizes of the batches it saw."""

    metadata = ModelMetadata(platform="picky")

    def __init__(self) -> None:
        self.batches: list[int] = []

    def predict(self, instances: Sequence[Any]) -> list[Any]:
        self.batches.append(len(instances))
        for index, instance in enumerate(instances):
            if instance == 13:
                raise InvalidInput(f"Instance {index} is 13; send another number.")
            if instance == 0:
                raise ZeroDivisionError("no zero")
        return [instance * 2 for instance in instances]

    def explain(self, instances: Sequence[Any]) -> list[Any]:
        raise NotSupported("It cannot explain.")

    def infer(self, requests: Sequence[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
        self.batches.append(len(requests))
        return [{"y": request["x"] * 2, "n": np.array(["é"])} for request in requests]


class Forgetful(Picky):
    def predict(self, instances: Sequence[Any]) -> list[Any]:
        return []


def predict(model: Any, *groups: list[Any], verb: str = "predict") -> list[Any]:
    call = Call(verb, [Item(instances=len(group)) for group in groups])
    answered = answer(model, call, [msgspec.json.encode(group) for group in groups])
    return [outcome.message or msgspec.json.decode(bytes(buffers[0])) for outcome, buffers in answered]


def test_requests_go_to_the_model_together_and_come_back_apart() -> None:
    model = Picky()

    answers = predict(model, [1, 2], [3])

    assert answers == [[2, 4], [6]]
    assert model.batches == [3]


def test_one_bad_instance_fails_its_own_request_only_and_is_named_by_its_place_there() -> None:
    model = Picky()

    answers = predict(model, [1], [5, 13], [3])

    assert answers == [[2], "Instance 1 is 13; send another number.", [6]]
    assert model.batches == [4, 1, 2, 1]


def test_a_request_that_breaks_the_model_gets_a_sentence_and_no_traceback() -> None:
    answers = predict(Picky(), [0], [1])

    assert answers[1] == [2]
    assert answers[0].startswith("The model failed on this request: ZeroDivisionError: no zero")
    assert "Traceback" not in answers[0]


def test_an_answer_too_few_is_the_models_fault() -> None:
    assert "0 answers to 2 instances" in predict(Forgetful(), [1, 2])[0]


def test_what_a_model_cannot_do_it_says() -> None:
    assert predict(Picky(), [1], verb="explain") == ["It cannot explain."]


def test_text_that_is_not_utf8_fails_its_own_request() -> None:
    call = Call("predict", [Item(instances=1), Item(instances=1)])

    (bad, _), (good, buffers) = answer(Picky(), call, [b'["\xff"]', b"[4]"])

    assert bad.code == "invalid_input"
    assert not good.code
    assert buffers == [b"[8]"]


def infer(*tensors: tuple[str, bytes], wanted: Any = None, is_binary: bool = False) -> list[Any]:
    items = [
        Item(tensors=[TensorHead("x", datatype, [2], True)], wanted=wanted, is_binary=is_binary)
        for datatype, _ in tensors
    ]
    return answer(Picky(), Call("infer", items), [data for _, data in tensors])


def test_tensors_that_cannot_be_read_fail_before_the_model_is_asked() -> None:
    (bad, none), (good, buffers) = infer(("FP32", b"[1]"), ("INT64", b"[1,2]"))

    assert (bad.code, none) == ("invalid_input", [])
    assert "shape [2], which is 2 values; got 1" in bad.message
    assert [head.name for head in good.tensors] == ["y", "n"]
    assert buffers == [b"[2,4]", '["é"]'.encode()]


def test_only_the_outputs_asked_for_come_back_each_in_its_form() -> None:
    ((outcome, buffers),) = infer(("UINT8", b"[1,2]"), wanted=[("n", True), ("y", False)])

    assert [(head.name, head.datatype, head.is_json) for head in outcome.tensors] == [
        ("n", "BYTES", False),
        ("y", "UINT8", True),
    ]
    assert buffers == [b"\x02\x00\x00\x00\xc3\xa9", b"[2,4]"]


def test_an_output_that_is_not_there_is_refused_with_those_that_are() -> None:
    ((outcome, _),) = infer(("FP32", b"[1,2]"), wanted=[("scores", False)])

    assert outcome.message == "The model has no output 'scores'; it gives y, n."


@pytest.mark.parametrize("value", [np.float32(1.5), np.arange(3), np.int64(3)])
def test_numpy_values_in_an_answer_become_json(value: Any) -> None:
    class Numeric(Picky):
        def predict(self, instances: Sequence[Any]) -> list[Any]:
            return [{"v": value} for _ in instances]

    assert predict(Numeric(), [1]) == [[{"v": value.tolist()}]]


def test_an_answer_that_json_has_no_form_for_is_named() -> None:
    class Odd(Picky):
        def predict(self, instances: Sequence[Any]) -> list[Any]:
            return [object() for _ in instances]

    assert "answered with a object" in predict(Odd(), [1])[0]
