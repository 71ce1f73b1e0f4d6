"""Resolute: a deep-learning training platform from raw data to a rolled-out endpoint.

Public names load on first use, so that `import resolute` stays cheap.
"""

from resolute.version import __version__

__all__ = ["__version__"]
