"""Class names, and the error that handlers raise on purpose."""

from resolute.serving.handlers.code import classes_in as list_classes_from_module
from resolute.serving.handlers.faults import PredictionException
from resolute.serving.handlers.labels import load_label_mapping, map_class_to_label

__all__ = ["PredictionException", "list_classes_from_module", "load_label_mapping", "map_class_to_label"]
