"""A handler of an archive behind V1 and V2. Its code runs in this process and nowhere else."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from resolute.domain.errors import InvalidInput, ResoluteError, Unavailable
from resolute.serving.archive.manifest import Manifest
from resolute.serving.detections import SCORE
from resolute.serving.handlers.code import import_file, one_handler
from resolute.serving.handlers.context import Context
from resolute.serving.handlers.downloads import without_downloads
from resolute.serving.handlers.faults import PredictionException
from resolute.serving.limits import ModelFailed
from resolute.serving.model import ModelMetadata, Tensor, WholeAnswer, WholeRequest, datatype_of
from resolute.serving.runtimes.options import Options

_log = logging.getLogger("resolute.serving")
_CLASSES = {
    "base_handler": ("base", "BaseHandler"),
    "image_classifier": ("image_classifier", "ImageClassifier"),
    "image_segmenter": ("image_segmenter", "ImageSegmenter"),
    "object_detector": ("object_detector", "ObjectDetector"),
    "text_classifier": ("text_classifier", "TextClassifier"),
}
Entry = Callable[[Any, Context], Any]


class HandlerModel:
    """The `Model` of an unpacked archive."""

    def __init__(self, folder: Path, manifest: Manifest, options: Options, extra: dict[str, Any] | None = None) -> None:
        self._manifest = manifest
        self._context = Context(
            manifest.name,
            str(folder),
            manifest.raw,
            options.batch_size,
            _gpu(options.device),
            model_yaml_config=_configuration(folder, manifest),
            allow_pickle=options.allow_pickle,
        )
        self._entry = self._start(folder)
        self._metadata = ModelMetadata(
            platform="python_handler",
            extra={"handler": manifest.handler, "version": manifest.version, **(extra or {})},
            takes_requests=True,
        )

    @property
    def metadata(self) -> ModelMetadata:
        return self._metadata

    def predict(self, instances: Sequence[Any]) -> list[Any]:
        return self._answers(instances, is_explain=False)

    def explain(self, instances: Sequence[Any]) -> list[Any]:
        return self._answers(instances, is_explain=True)

    def infer(self, requests: Sequence[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
        groups = [_instances(request) for request in requests]
        answers = iter(self.predict([row for rows in groups for row in rows]))
        return [
            _outputs(request, [(row["name"], next(answers)) for row in rows])
            for request, rows in zip(requests, groups, strict=True)
        ]

    def handle(self, requests: Sequence[WholeRequest], *, is_explain: bool) -> list[WholeAnswer]:
        headers = [{"explain": str(is_explain), **request.headers} for request in requests]
        self._context.begin_batch(headers, [request.id for request in requests])
        try:
            answers = self._call([request.fields for request in requests])
        except PredictionException as error:
            refused = WholeAnswer(content={"error": error.message}, status=error.error_code)
            return [refused for _ in requests]
        return [self._whole_answer(index, answer) for index, answer in enumerate(answers)]

    def _start(self, folder: Path) -> Entry:
        with without_downloads() as skipped:
            entry, initialize = self._entry_point(folder)
            self._guarded("starting", lambda: initialize(self._context))
        if skipped and not self._manifest.serialized_file:
            raise InvalidInput(
                f"{self._manifest.name} asks for pretrained weights from {skipped[0]}, and the archive has none of its "
                "own. Nothing is downloaded while a model is loaded: put the weights in with --serialized-file."
            )
        return entry

    def _entry_point(self, folder: Path) -> tuple[Entry, Callable[[Context], Any]]:
        file = self._manifest.handler_file
        if file is None:
            module_name, class_name = _CLASSES[self._manifest.handler.partition(":")[0]]
            handler = getattr(import_module(f"resolute.serving.handlers.{module_name}"), class_name)()
            return handler.handle, handler.initialize
        module = import_file(folder / file)
        function = getattr(module, self._manifest.handler_function or "handle", None)
        if callable(function):
            entry: Entry = function
            return entry, lambda context: entry(None, context)
        if self._manifest.handler_function:
            raise InvalidInput(f"{file} has no function {self._manifest.handler_function}.")
        handler = one_handler(module, folder / file)()
        return handler.handle, handler.initialize

    def _answers(self, instances: Sequence[Any], *, is_explain: bool) -> list[Any]:
        """KServe's instances are the handler's rows; what is no object is a row's `data`."""
        rows = [row if isinstance(row, Mapping) else {"data": row} for row in instances]
        self._context.begin_batch([{"explain": str(is_explain)}] * len(rows))
        try:
            answers = self._call(rows)
        except PredictionException as error:
            raise _refusal(error.message, error.error_code) from error
        self._check_status()
        return answers

    def _call(self, rows: Sequence[Any]) -> list[Any]:
        answers = self._guarded("answering", lambda: self._entry(rows, self._context))
        if not isinstance(answers, list) or len(answers) != len(rows):
            got = f"{len(answers)} answers" if isinstance(answers, list) else f"a {type(answers).__name__}"
            raise ModelFailed(
                f"The handler of {self._manifest.name} gave {got} for {len(rows)} instances; it must return a list "
                "with one answer each."
            )
        return answers

    def _whole_answer(self, index: int, answer: Any) -> WholeAnswer:
        headers = {str(key): str(value) for key, value in self._context.get_response_headers(index).items()}
        kind = next((headers.pop(name) for name in list(headers) if name.lower() == "content-type"), None)
        status, _ = self._context.get_response_status(index)
        return WholeAnswer(content=answer, content_type=kind, status=status, headers=headers)

    def _check_status(self) -> None:
        for index in range(len(self._context.request_processor)):
            code, phrase = self._context.get_response_status(index)
            if code >= 400:
                raise _refusal(phrase or f"The handler answered {code}.", code)

    def _guarded(self, doing: str, act: Callable[[], Any]) -> Any:
        try:
            return act()
        except (ResoluteError, PredictionException):
            raise
        except MemoryError as error:
            raise Unavailable(f"{self._manifest.name} ran out of memory; send smaller batches.") from error
        except Exception as error:
            _log.exception("The handler of %s failed while %s.", self._manifest.name, doing)
            raise ModelFailed(
                f"The handler of {self._manifest.name} failed while {doing}: {type(error).__name__}: {error}. "
                "The log of the model has the traceback."
            ) from error


def _refusal(message: str, code: int) -> ResoluteError:
    return InvalidInput(message) if 400 <= code < 500 else ModelFailed(message)


def _configuration(folder: Path, manifest: Manifest) -> dict[str, Any]:
    if manifest.config_file is None:
        return {}
    try:
        found = YAML(typ="safe").load((folder / manifest.config_file).read_text())
    except (YAMLError, OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{manifest.config_file} is not YAML: {str(error).splitlines()[0]}.") from None
    if found is not None and not isinstance(found, dict):
        raise InvalidInput(f"{manifest.config_file} must hold keys and values, not a {type(found).__name__}.")
    return found or {}


def _gpu(device: str) -> int | None:
    if not device.startswith("cuda"):
        return None
    return int(device.partition(":")[2] or 0)


def _instances(request: dict[str, Tensor]) -> list[dict[str, Any]]:
    """V2 inputs as a handler gets them: each encoded value, and each block of numbers, is one row."""
    return [row for name, array in request.items() for row in _rows(name, array)]


def _rows(name: str, array: Tensor) -> list[dict[str, Any]]:
    facts = {"name": name, "shape": list(array.shape), "datatype": datatype_of(array)}
    if facts["datatype"] != "BYTES":
        return [{**facts, "data": array.tolist()}]
    values: list[Any] = array.reshape(-1).tolist()
    if not values:
        raise InvalidInput(f"input {name!r} is empty; wanted: BYTES [n], one value an instance.")
    return [{**facts, "data": _text_or_bytes(value)} for value in values]


def _text_or_bytes(value: bytes) -> str | bytes:
    """JSON carries text, base64 of a picture among it; a picture's own bytes are none."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _outputs(request: dict[str, Tensor], answers: list[tuple[str, Any]]) -> dict[str, Tensor]:
    """One input: whatever tensors its answers make. Several: one of the same name for each."""
    if len(request) == 1:
        return _tensors([answer for _, answer in answers], next(iter(request)))
    by_name: dict[str, list[Any]] = {name: [] for name in request}
    for name, answer in answers:
        by_name[name].append(answer)
    return {name: _plain(own, name)[name] for name, own in by_name.items()}


def _tensors(answers: list[Any], name: str) -> dict[str, Tensor]:
    """Detections and class shares become typed tensors, numbers one tensor, everything else JSON text."""
    if len(answers) == 1 and _is_detections(answers[0]):
        return _boxes(answers[0])
    if len(answers) == 1 and isinstance(answers[0], dict) and all(isinstance(v, float) for v in answers[0].values()):
        shares = answers[0]
        return {"class_names": _texts(list(shares)), "scores": np.asarray(list(shares.values()), dtype=np.float32)}
    return _plain(answers, name)


def _plain(answers: list[Any], name: str) -> dict[str, Tensor]:
    array = _numbers(answers)
    return {name: array if array is not None else _texts([json.dumps(each) for each in answers])}


def _is_detections(answer: Any) -> bool:
    return isinstance(answer, list) and all(isinstance(row, dict) and len(row) == 2 and SCORE in row for row in answer)


def _boxes(rows: list[dict[str, Any]]) -> dict[str, Tensor]:
    names = [next(key for key in row if key != SCORE) for row in rows]
    return {
        "boxes": np.asarray([row[name] for row, name in zip(rows, names, strict=True)], dtype=np.float32).reshape(
            -1, 4
        ),
        "scores": np.asarray([row[SCORE] for row in rows], dtype=np.float32),
        "class_names": _texts(names),
    }


def _numbers(answers: list[Any]) -> Tensor | None:
    try:
        array = np.asarray(answers)
    except ValueError:
        return None
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    return array if array.dtype.kind in "iub" else None


def _texts(values: list[str]) -> Tensor:
    array = np.empty(len(values), dtype=object)
    array[:] = [value.encode() for value in values]
    return array
