"""Handlers of pictures."""

from resolute.serving.handlers.vision import VisionHandler

__all__ = ["VisionHandler"]
