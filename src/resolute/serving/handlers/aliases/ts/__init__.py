"""TorchServe under its own name, for handlers in archives: every name here is ours. Seen by the model process only."""

__version__ = "0.12.0"
