"""Keras 3 on Resolute: a callback for `model.fit`, and a class form.

with resolute.init() as run:
    callback = resolute.keras.Callback(run)
    model.fit(x, y, callbacks=[callback], initial_epoch=callback.restore(model))
"""

from resolute.training.keras.callback import Callback, load_model
from resolute.training.keras.trial import Trial

__all__ = ["Callback", "Trial", "load_model"]
