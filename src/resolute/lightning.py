"""Lightning on Resolute: `lightning.Trainer(callbacks=[resolute.lightning.Callback(run)])`."""

from resolute.training.lightning import Callback

__all__ = ["Callback"]
