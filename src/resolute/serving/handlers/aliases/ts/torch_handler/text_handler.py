"""Handlers of text."""

from resolute.serving.handlers.text_classifier import TextHandler

__all__ = ["TextHandler"]
