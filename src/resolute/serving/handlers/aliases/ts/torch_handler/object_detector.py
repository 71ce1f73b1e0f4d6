"""Boxes."""

from resolute.serving.handlers.object_detector import ObjectDetector

__all__ = ["ObjectDetector"]
