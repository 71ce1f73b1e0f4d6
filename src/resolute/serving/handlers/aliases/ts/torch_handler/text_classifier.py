"""Classes of texts."""

from resolute.serving.handlers.text_classifier import TextClassifier

__all__ = ["TextClassifier"]
