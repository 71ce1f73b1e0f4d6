"""The base of all handlers."""

from resolute.serving.handlers.base import BaseHandler

__all__ = ["BaseHandler"]
