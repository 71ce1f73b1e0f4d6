"""Classes of pixels."""

from resolute.serving.handlers.image_segmenter import ImageSegmenter

__all__ = ["ImageSegmenter"]
