"""Series cache."""


class SeriesCache:
    """Placeholder of the next commit."""
