"""What a model process does with a call: decode, ask the model, encode. No sockets: tests call it directly.

Each request of a batch ends by itself. When a batch fails, its requests are tried one by one, so that one bad instance
fails its own request only.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec
import numpy as np

from resolute.domain.errors import InvalidInput, ResoluteError
from resolute.serving.limits import ModelFailed
from resolute.serving.model import Model, TakesRequests, Tensor, WholeAnswer, WholeRequest, datatype_of
from resolute.serving.protocol import torchserve
from resolute.serving.protocol.json_text import parse, render
from resolute.serving.protocol.tensors import read_tensor, write_binary, write_json
from resolute.serving.worker_frames import Buffer, Call, Item, Outcome, TensorHead

_log = logging.getLogger("resolute.serving")
_instances = msgspec.json.Decoder(list[Any])
Answered = tuple[Outcome, list[Buffer]]


def answer(model: Model, call: Call, buffers: Sequence[Buffer]) -> list[Answered]:
    """One outcome per item, in order. Never raises."""
    shares = _share(call, buffers)
    if call.verb == "infer":
        return _each(shares, _read_tensors, lambda inputs: _infer(model, inputs), _write_tensors)
    if call.verb.startswith("handle"):
        handler, is_explain = cast(TakesRequests, model), call.verb == "handle_explain"
        return _each(shares, _read_request, lambda requests: _handle(handler, requests, is_explain), _write_whole)
    method = model.explain if call.verb == "explain" else model.predict
    return _each(shares, _read_instances, lambda groups: _predict(method, groups), _write_answers)


def _share(call: Call, buffers: Sequence[Buffer]) -> list[tuple[Item, list[Buffer]]]:
    shares, start = [], 0
    for item in call.items:
        end = start + item.buffers
        shares.append((item, list(buffers[start:end])))
        start = end
    return shares


def _each(
    shares: list[tuple[Item, list[Buffer]]],
    read: Callable[[Item, list[Buffer]], Any],
    run: Callable[[list[Any]], list[Any]],
    write: Callable[[Item, Any], Answered],
) -> list[Answered]:
    """Reading and writing concern one request each; running is for all that could be read."""
    done: list[Answered | None] = [None] * len(shares)
    inputs: dict[int, Any] = {}
    for index, (item, buffers) in enumerate(shares):
        try:
            inputs[index] = read(item, buffers)
        except Exception as problem:  # noqa: BLE001, RUF100 - a request's fault is its own answer
            done[index] = _failed(problem)
    for index, result in zip(inputs, _run(run, list(inputs.values())), strict=True):
        if isinstance(result, Exception):
            done[index] = _failed(result)
            continue
        try:
            done[index] = write(shares[index][0], result)
        except Exception as problem:  # noqa: BLE001, RUF100
            done[index] = _failed(problem)
    return [outcome for outcome in done if outcome is not None]


def _run(run: Callable[[list[Any]], list[Any]], inputs: list[Any]) -> list[Any]:
    """Results, or the exception in place of one."""
    if not inputs:
        return []
    try:
        return run(inputs)
    except Exception as problem:  # noqa: BLE001, RUF100
        if len(inputs) == 1:
            return [problem]
        _log.info("A batch of %d failed (%s); trying its requests one by one.", len(inputs), problem)
        return [result for value in inputs for result in _run(run, [value])]


def _read_instances(item: Item, buffers: list[Buffer]) -> list[Any]:
    return parse(_instances, memoryview(buffers[0]), wanted='{"instances": [...]}')


def _predict(method: Callable[[Sequence[Any]], list[Any]], groups: list[list[Any]]) -> list[list[Any]]:
    instances = [instance for group in groups for instance in group]
    answers = method(instances)
    if len(answers) != len(instances):
        raise ModelFailed(
            f"The model gave {len(answers)} answers to {len(instances)} instances; it must give one each."
        )
    results, start = [], 0
    for group in groups:
        results.append(list(answers[start : start + len(group)]))
        start += len(group)
    return results


def _write_answers(item: Item, answers: list[Any]) -> Answered:
    return Outcome(), [render(answers)]


def _read_request(item: Item, buffers: list[Buffer]) -> WholeRequest:
    pairs = zip(item.fields, buffers, strict=False)  # A form without fields still has its one empty buffer.
    fields = {head.name: torchserve.field_value(head.content_type, content) for head, content in pairs}
    return WholeRequest(fields=fields, headers=torchserve.header_map(item.fields, item.headers), id=item.id)


def _handle(handler: TakesRequests, requests: list[WholeRequest], is_explain: bool) -> list[WholeAnswer]:
    answers = handler.handle(requests, is_explain=is_explain)
    if len(answers) != len(requests):
        raise ModelFailed(f"The model gave {len(answers)} answers to {len(requests)} requests; it must give one each.")
    return answers


def _write_whole(item: Item, answer: WholeAnswer) -> Answered:
    content, content_type = torchserve.write_answer(answer.content, answer.content_type)
    return Outcome(status=answer.status, content_type=content_type, headers=answer.headers), [content]


def _read_tensors(item: Item, buffers: list[Buffer]) -> dict[str, Tensor]:
    return {head.name: read_tensor(head, data) for head, data in zip(item.tensors, buffers, strict=True)}


def _infer(model: Model, inputs: list[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
    answers = model.infer(inputs)
    if len(answers) != len(inputs):
        raise ModelFailed(f"The model gave {len(answers)} answers to {len(inputs)} requests; it must give one each.")
    return answers


def _write_tensors(item: Item, outputs: dict[str, Tensor]) -> Answered:
    wanted = [(name, item.is_binary) for name in outputs] if item.wanted is None else item.wanted
    heads, buffers = [], list[Buffer]()
    for name, is_binary in wanted:
        if name not in outputs:
            raise InvalidInput(f"The model has no output {name!r}; it gives {', '.join(outputs)}.")
        tensor = np.asarray(outputs[name])
        heads.append(TensorHead(name, datatype_of(tensor), list(tensor.shape), not is_binary))
        buffers.append(write_binary(tensor) if is_binary else write_json(name, tensor))
    return Outcome(heads), buffers


def _failed(problem: Exception) -> Answered:
    if isinstance(problem, ResoluteError):
        return Outcome(code=problem.code, message=str(problem)), []
    _log.error("The model failed on a request.", exc_info=problem)
    sentence = f"The model failed on this request: {type(problem).__name__}: {problem}"
    return Outcome(code=ModelFailed.code, message=f"{sentence} (the server's log has the traceback)"), []
