"""`BaseHandler`: load a model, then preprocess, inference, postprocess. The contract that handler classes build on."""

import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.serving.handlers.code import one_class
from resolute.serving.handlers.context import Context
from resolute.serving.handlers.labels import load_label_mapping
from resolute.serving.programs import read_script
from resolute.serving.weights import load_weights


class BaseHandler:
    """Subclasses override what they need; names and order of calls are TorchServe's."""

    def __init__(self) -> None:
        self.model: Any = None
        self.mapping: dict[str, str] | None = None
        self.device: Any = None
        self.initialized = False
        self.context: Any = None
        self.model_pt_path: str | None = None
        self.manifest: Any = None
        self.map_location: str | None = None
        self.model_yaml_config: dict[str, Any] = {}
        self.explain = False
        self.target = 0
        self.allow_pickle = False

    def initialize(self, context: Context) -> None:
        """Find the device, load the model, read the class names."""
        properties = context.system_properties
        gpu = properties.get("gpu_id")
        self.map_location = "cuda" if gpu is not None and torch.cuda.is_available() else "cpu"
        self.device = torch.device(f"cuda:{gpu}" if self.map_location == "cuda" else "cpu")
        self.model_yaml_config = context.model_yaml_config or {}
        self.manifest = context.manifest
        self.allow_pickle = bool(getattr(context, "allow_pickle", False))
        folder = Path(properties["model_dir"])
        self.model = self._load_model(folder, self.manifest["model"])
        self.mapping = load_label_mapping(folder / "index_to_name.json")
        self.initialized = True

    def preprocess(self, data: Any) -> Any:
        return torch.as_tensor([_content(row) for row in data], device=self.device)

    def inference(self, data: Any, *args: Any, **kwargs: Any) -> Any:
        with torch.inference_mode():
            return self.model(data.to(self.device), *args, **kwargs)

    def postprocess(self, data: Any) -> Any:
        return data.tolist()

    def handle(self, data: Any, context: Context) -> Any:
        started = time.perf_counter()
        self.context = context
        if self._is_describe():
            return [self.describe_handle()]
        prepared = self.preprocess(data)
        answer = (
            self.explain_handle(prepared, data) if self._is_explain() else self.postprocess(self.inference(prepared))
        )
        context.metrics.add_time("HandlerTime", round((time.perf_counter() - started) * 1000, 2), None, "ms")
        return answer

    def explain_handle(self, data_preprocess: Any, raw_data: Any) -> Any:
        first = raw_data[0] if raw_data else None
        target = (first.get("target") if isinstance(first, dict) else None) or self.target
        return self.get_insights(data_preprocess, _content(first), target)

    def get_insights(self, tensor_data: Any, raw_data: Any, target: int = 0) -> Any:
        raise NotSupported(f"{type(self).__name__} cannot explain its answers; it can predict.")

    def describe_handle(self) -> Any:
        return None

    def get_device(self) -> Any:
        return self.device

    def _load_model(self, folder: Path, model: dict[str, Any]) -> Any:
        file = model.get("serializedFile")
        path = folder / file if file else None
        self.model_pt_path = str(path) if path else None
        if model.get("modelFile"):
            loaded = self._load_pickled_model(str(folder), model["modelFile"], self.model_pt_path)
            return loaded.to(self.device).eval()
        if path is None:
            raise InvalidInput("The archive names neither a model file nor a serialized file: there is nothing to run.")
        if path.suffix in (".pt", ".pth", ".ts"):
            return self._load_torchscript_model(str(path)).eval()
        if path.suffix == ".onnx":
            from resolute.serving.onnx_session import open_session  # onnxruntime is an extra of its own

            return open_session(path, self.map_location or "cpu")
        raise InvalidInput(
            f"{path.name} cannot be loaded without a model file: wanted TorchScript (.pt) or ONNX (.onnx), "
            "or a model file with one nn.Module class beside weights."
        )

    def _load_torchscript_model(self, model_pt_path: str) -> Any:
        return read_script(Path(model_pt_path), str(self.device))[0]

    def _load_pickled_model(self, model_dir: str, model_file: str, model_pt_path: str | None) -> nn.Module:
        """The one class of `model_file`, made without arguments; weights are read without running their code."""
        path = Path(model_dir) / model_file
        if not path.is_file():
            raise InvalidInput(f"The model file {model_file} is not in the archive.")
        model: nn.Module = one_class(path, nn.Module)()
        if model_pt_path:
            load_weights(model, Path(model_pt_path), allow_pickle=self.allow_pickle)
        return model

    def _is_explain(self) -> bool:
        self.explain = self._header("explain") == "True"
        return self.explain

    def _is_describe(self) -> bool:
        return self._header("describe") == "True"

    def _header(self, key: str) -> str | None:
        value: str | None = self.context.get_request_header(0, key) if self.context else None
        return value


def _content(row: Any) -> Any:
    """Requests come as {"data": ...} or {"body": ...}; other values count as they are."""
    if not isinstance(row, dict):
        return row
    value = row.get("data")
    return value if value is not None else row.get("body")
