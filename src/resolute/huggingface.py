"""Hugging Face on Resolute: `transformers.Trainer(..., callbacks=[resolute.huggingface.Callback(run)])`."""

from resolute.training.huggingface import Callback

__all__ = ["Callback"]
