"""The context object."""

from resolute.serving.handlers.context import Context, RequestProcessor

__all__ = ["Context", "RequestProcessor"]
