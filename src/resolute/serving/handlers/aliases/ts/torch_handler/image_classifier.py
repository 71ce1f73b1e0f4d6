"""Classes of pictures."""

from resolute.serving.handlers.image_classifier import ImageClassifier

__all__ = ["ImageClassifier"]
