"""A function of named arrays behind V1 and V2: checks, batches and takes apart. No torch; the function may use it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.serving.model import NUMPY_TYPES, ModelMetadata, Tensor, TensorSpec, datatype_of

Arrays = dict[str, Tensor]
Run = Callable[[Arrays], Arrays]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What the function takes. `specs` is empty where only the names are known."""

    names: tuple[str, ...]
    specs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()
    datatype: str = "FP32"
    """Of V1 numbers where there are no specs."""

    @property
    def can_batch(self) -> bool:
        return all(spec.shape and spec.shape[0] == -1 for spec in self.specs)


class TensorModel:
    """The `Model` of a tensor program. Rows along the first axis count as a batch where the outputs agree."""

    def __init__(self, run: Run, signature: Signature, platform: str, extra: dict[str, Any] | None = None) -> None:
        self._run, self._signature = run, signature
        self._metadata = ModelMetadata(
            platform=platform, inputs=signature.specs, outputs=signature.outputs, extra=extra or {}
        )

    @property
    def metadata(self) -> ModelMetadata:
        return self._metadata

    def predict(self, instances: Sequence[Any]) -> list[Any]:
        inputs = [self._arrays(instance, f"instance {index}") for index, instance in enumerate(instances)]
        return [_plain(each) for each in self._each(inputs)]

    def explain(self, instances: Sequence[Any]) -> list[Any]:
        raise NotSupported("This model cannot explain its answers; it can predict.")

    def infer(self, requests: Sequence[Arrays]) -> list[Arrays]:
        for request in requests:
            check_inputs(request, self._signature)
        return self._each(list(requests))

    def _each(self, inputs: list[Arrays]) -> list[Arrays]:
        """Inputs of one shape run together; results in the order of the inputs."""
        groups: dict[Any, list[int]] = {}
        for index, arrays in enumerate(inputs):
            key = tuple((name, array.shape[1:], array.dtype) for name, array in sorted(arrays.items()))
            groups.setdefault(key if self._signature.can_batch else index, []).append(index)
        results: dict[int, Arrays] = {}
        for indices in groups.values():
            results.update(zip(indices, self._together([inputs[index] for index in indices]), strict=True))
        return [results[index] for index in range(len(inputs))]

    def _together(self, inputs: list[Arrays]) -> list[Arrays]:
        if len(inputs) == 1:
            return [self._call(inputs[0])]
        rows = [_row_count(arrays) for arrays in inputs]
        joined = self._call({name: np.concatenate([each[name] for each in inputs]) for name in inputs[0]})
        if any(array.ndim == 0 or len(array) != sum(rows) for array in joined.values()):
            return [self._call(each) for each in inputs]
        ends = np.cumsum(rows)[:-1]
        parts = {name: np.split(array, ends) for name, array in joined.items()}
        return [{name: part[index] for name, part in parts.items()} for index in range(len(inputs))]

    def _call(self, inputs: Arrays) -> Arrays:
        try:
            return self._run(inputs)
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            got = ", ".join(f"{name} {datatype_of(each)} {list(each.shape)}" for name, each in inputs.items())
            first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise InvalidInput(f"The model does not accept {got}: {first[:300]}") from error

    def _arrays(self, instance: Any, where: str) -> Arrays:
        values = self._named(instance, where)
        specs = {spec.name: spec for spec in self._signature.specs}
        arrays = {
            name: _array(value, specs.get(name), self._signature.datatype, where) for name, value in values.items()
        }
        check_inputs(arrays, self._signature, where)
        return arrays

    def _named(self, instance: Any, where: str) -> Mapping[str, Any]:
        names = self._signature.names
        if isinstance(instance, Mapping):
            if len(names) == 1 and names[0] not in instance and "data" in instance:
                return {names[0]: instance["data"]}
            return instance
        if len(names) != 1:
            raise InvalidInput(f"{where} must be an object with the inputs {', '.join(names)}; the model has several.")
        return {names[0]: instance}


def check_inputs(arrays: Mapping[str, Tensor], signature: Signature, where: str = "") -> None:
    """Names, types and shapes, each with what was wanted and what came."""
    prefix = f"{where}, " if where else ""
    missing = [name for name in signature.names if name not in arrays]
    unknown = [name for name in arrays if name not in signature.names]
    if missing or unknown:
        raise InvalidInput(
            f"{prefix}wanted the inputs {', '.join(signature.names)}; got {', '.join(arrays) or 'none'}."
        )
    for spec in signature.specs:
        array = arrays[spec.name]
        fits = len(array.shape) == len(spec.shape) and all(
            want in (-1, have) for want, have in zip(spec.shape, array.shape, strict=True)
        )
        if datatype_of(array) != spec.datatype or not fits:
            raise InvalidInput(
                f"{prefix}input {spec.name!r}: wanted {spec.datatype} {list(spec.shape)}, "
                f"got {datatype_of(array)} {list(array.shape)}."
            )


def from_outputs(values: Iterable[Tensor], names: Sequence[str]) -> Arrays:
    """Outputs by name; `output` or `output_0`, `output_1` ... where there are no names."""
    arrays = list(values)
    if len(names) != len(arrays):
        names = ["output"] if len(arrays) == 1 else [f"output_{index}" for index in range(len(arrays))]
    return dict(zip(names, arrays, strict=True))


def _array(value: Any, spec: TensorSpec | None, datatype: str, where: str) -> Tensor:
    """One instance as a batch of one."""
    wanted = NUMPY_TYPES[spec.datatype if spec else datatype]
    try:
        return np.asarray(value, dtype=wanted)[None]
    except (ValueError, TypeError, OverflowError) as error:
        name = f" input {spec.name!r}" if spec else ""
        raise InvalidInput(f"{where}{name} is not a rectangular block of {wanted.name} numbers: {error}.") from None


def _row_count(arrays: Arrays) -> int:
    return len(next(iter(arrays.values())))


def _plain(outputs: Arrays) -> Any:
    """The answer to one V1 instance: its row of each output."""
    rows = {name: (array[0] if array.ndim and len(array) == 1 else array).tolist() for name, array in outputs.items()}
    return next(iter(rows.values())) if len(rows) == 1 else rows
