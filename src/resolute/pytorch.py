"""PyTorch on Resolute: `Trial`, `Trainer` and what they need.

with resolute.pytorch.init() as context:
    Trainer(MyTrial(context), context).fit(max_length=Epoch(3))
"""

from resolute.training.pytorch.callbacks import Callback
from resolute.training.pytorch.context import LRScheduler, StepMode, TrialContext
from resolute.training.pytorch.data import DataLoader
from resolute.training.pytorch.lengths import Batch, Epoch, Record
from resolute.training.pytorch.reducers import MetricReducer, Reducer
from resolute.training.pytorch.session import init
from resolute.training.pytorch.trainer import Trainer
from resolute.training.pytorch.trial import Trial

PyTorchCallback = Callback
PyTorchTrial = Trial
PyTorchTrialContext = TrialContext

__all__ = [
    "Batch",
    "Callback",
    "DataLoader",
    "Epoch",
    "LRScheduler",
    "MetricReducer",
    "PyTorchCallback",
    "PyTorchTrial",
    "PyTorchTrialContext",
    "Record",
    "Reducer",
    "StepMode",
    "Trainer",
    "Trial",
    "TrialContext",
    "init",
]
