"""Object detection: model zoo, data, training, COCO metrics, sliced inference. Comes with `resolute[vision]`.

    from resolute import vision

    detector = vision.load_detector("checkpoint/")
    detections = detector.detect([image])

Names load on first use, so that importing this package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resolute.vision.data.dataset import CocoDetection
    from resolute.vision.detections import ClassName, Detections, Detector
    from resolute.vision.detector import TorchDetector, load_detector
    from resolute.vision.trial import DetectionTrial
    from resolute.vision.zoo.build import build_model, model_names

_WHERE = {
    "ClassName": "detections",
    "CocoDetection": "data.dataset",
    "CocoEvaluator": "evaluation",
    "DetectionTrial": "trial",
    "Detections": "detections",
    "Detector": "detections",
    "TorchDetector": "detector",
    "build_model": "zoo.build",
    "evaluate": "evaluation",
    "load_detector": "detector",
    "model_names": "zoo.build",
    "predict_large": "slicing",
}

__all__ = [
    "ClassName",
    "CocoDetection",
    "CocoEvaluator",
    "DetectionTrial",
    "Detections",
    "Detector",
    "TorchDetector",
    "build_model",
    "evaluate",
    "load_detector",
    "model_names",
    "predict_large",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_WHERE[name]}")
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("resolute"):
            raise
        raise ImportError(
            f"resolute.vision needs the package {missing.name!r}. Install it with: "
            "pip install 'resolute[vision,train,imagery]'"
        ) from missing
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
