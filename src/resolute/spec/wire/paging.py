"""Which part of a list an answer holds. Pure."""

from resolute.spec.wire.base import Wire


class Pagination(Wire):
    offset: int = 0
    limit: int = 0
    start_index: int = 0
    end_index: int = 0
    total: int = 0
