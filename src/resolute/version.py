"""The version, in the one place that both the build and the running program read."""

__version__ = "0.1.0"
