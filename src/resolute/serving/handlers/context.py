"""What a handler is told about its model and its requests. Same names as TorchServe's context; no torch."""

import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

_log = logging.getLogger("resolute.serving")
SERVER_VERSION = "0.12.0"
"""Handlers ask for the version of the contract they were written for."""


class Metrics:
    """Where handlers report their own numbers; they go to the log."""

    def add_counter(self, name: str, value: float, idx: int | None = None, dimensions: Any = None) -> None:
        self.add_metric(name, value, "count", idx, dimensions)

    def add_time(
        self, name: str, value: float, idx: int | None = None, unit: str = "ms", dimensions: Any = None
    ) -> None:
        self.add_metric(name, value, unit, idx, dimensions)

    def add_size(
        self, name: str, value: float, idx: int | None = None, unit: str = "MB", dimensions: Any = None
    ) -> None:
        self.add_metric(name, value, unit, idx, dimensions)

    def add_percent(self, name: str, value: float, idx: int | None = None, dimensions: Any = None) -> None:
        self.add_metric(name, value, "percent", idx, dimensions)

    def add_error(self, name: str, value: Any, dimensions: Any = None) -> None:
        _log.warning("handler error %s: %s", name, value)

    def add_metric(
        self, name: str, value: float, unit: str = "", idx: int | None = None, dimensions: Any = None
    ) -> None:
        _log.debug("handler metric %s: %s %s", name, value, unit)


class RequestProcessor:
    """Headers of one request, and the status and headers that the handler wants in its answer."""

    def __init__(self, request_header: Mapping[str, Any] | None = None) -> None:
        self._headers = dict(request_header or {})
        self._answer_headers: dict[str, str] = {}
        self._status, self._phrase = 200, ""

    def get_request_property(self, key: str) -> Any:
        """HTTP's names have no case: those of a request come in lower case, and are found as they are usually written.
        Under the name of a form's field, or `body`, is its `{"content-type": ...}`."""
        return self._headers[key] if key in self._headers else self._headers.get(key.lower())

    def get_request_properties(self) -> dict[str, Any]:
        return self._headers

    def report_status(self, code: int, reason_phrase: str = "") -> None:
        self._status, self._phrase = code, reason_phrase

    def get_response_status_code(self) -> int:
        return self._status

    def get_response_status_phrase(self) -> str:
        return self._phrase

    def add_response_property(self, key: str, value: str) -> None:
        self._answer_headers[key] = value

    def get_response_headers(self) -> dict[str, str]:
        return self._answer_headers

    def get_response_header(self, key: str) -> str | None:
        return self._answer_headers.get(key)


class Context:
    """Fixed at load but for the requests of the batch in hand."""

    def __init__(
        self,
        model_name: str,
        model_dir: str,
        manifest: dict[str, Any],
        batch_size: int = 1,
        gpu: int | None = None,
        mms_version: str = SERVER_VERSION,
        limit_max_image_pixels: bool = True,
        metrics: Any = None,
        model_yaml_config: dict[str, Any] | None = None,
        allow_pickle: bool = False,
    ) -> None:
        self.model_name = model_name
        self.manifest = manifest
        self.model_yaml_config = model_yaml_config or {}
        self.allow_pickle = allow_pickle
        """Not TorchServe's: weights whose loading runs code are loaded."""
        self.metrics = metrics or Metrics()
        self.request_ids: dict[int, str] | None = None
        self.request_processor: list[RequestProcessor] = [RequestProcessor()]
        self.system_properties: dict[str, Any] = {
            "model_dir": model_dir,
            "gpu_id": gpu,
            "batch_size": batch_size,
            "server_name": "resolute",
            "server_version": mms_version,
            "limit_max_image_pixels": limit_max_image_pixels,
        }

    def begin_batch(self, headers: Sequence[Mapping[str, Any]], ids: Sequence[str] = ()) -> None:
        """The next call is about these requests; one entry each. Those that have no id get one."""
        self.request_processor = [RequestProcessor(each) for each in headers]
        self.request_ids = dict(enumerate(ids or [str(uuid.uuid4()) for _ in headers]))

    def get_request_id(self, idx: int = 0) -> str | None:
        return (self.request_ids or {}).get(idx)

    def get_request_header(self, idx: int, key: str) -> Any:
        return self.request_processor[idx].get_request_property(key)

    def get_all_request_header(self, idx: int) -> dict[str, Any]:
        return self.request_processor[idx].get_request_properties()

    def set_response_content_type(self, idx: int, value: str) -> None:
        self.set_response_header(idx, "content-type", value)

    def get_response_content_type(self, idx: int) -> str | None:
        return self.get_response_headers(idx).get("content-type")

    def set_response_header(self, idx: int, key: str, value: str) -> None:
        self.request_processor[idx].add_response_property(key, value)

    def get_response_headers(self, idx: int) -> dict[str, str]:
        return self.request_processor[idx].get_response_headers()

    def get_response_status(self, idx: int) -> tuple[int, str]:
        processor = self.request_processor[idx]
        return processor.get_response_status_code(), processor.get_response_status_phrase()

    def set_response_status(self, code: int = 200, phrase: str = "", idx: int = 0) -> None:
        self.request_processor[idx].report_status(code, phrase)

    def set_all_response_status(self, code: int = 200, phrase: str = "") -> None:
        for processor in self.request_processor:
            processor.report_status(code, phrase)
