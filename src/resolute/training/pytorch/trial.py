"""The class form of a trial: what to train, in a handful of methods. How it is run is the Trainer's business."""

from typing import Any

from resolute.training.pytorch.callbacks import Callback
from resolute.training.pytorch.context import TrialContext
from resolute.training.pytorch.reducers import Reducer


class Trial:
    """Subclass it: wrap models and optimizers in `__init__`, evaluate in one of the two evaluate methods."""

    def __init__(self, context: TrialContext) -> None:
        self.context = context

    def build_training_data_loader(self) -> Any:
        """A `resolute.pytorch.DataLoader` or torch's; ranks and resume are taken care of."""
        raise NotImplementedError(f"{type(self).__name__} needs build_training_data_loader.")

    def build_validation_data_loader(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} needs build_validation_data_loader.")

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> Any:
        """One step on this slot's part of a global batch. Returns the loss, or a mapping of metrics."""
        raise NotImplementedError(f"{type(self).__name__} needs train_batch.")

    def evaluate_batch(self, batch: Any, batch_idx: int) -> dict[str, Any]:
        """Metrics of one batch; they are combined over batches and slots as `evaluation_reducer` says."""
        raise NotImplementedError

    def evaluate_full_dataset(self, data_loader: Any) -> dict[str, Any]:
        """Instead of `evaluate_batch`: metrics of the whole validation set, computed by the chief alone."""
        raise NotImplementedError

    def evaluation_reducer(self) -> Reducer | dict[str, Reducer]:
        return Reducer.AVG

    def training_data(self) -> Any:
        """What the Trainer asks for; other kinds of trials turn their own forms of data into loaders here."""
        return self.build_training_data_loader()

    def validation_data(self) -> Any:
        return self.build_validation_data_loader()

    def build_callbacks(self) -> dict[str, Callback]:
        return {}
