"""The model zoo: detectors by name, built from code alone. Nothing here ever downloads."""

from resolute.vision.zoo.build import build_model, model_names, rebuild_options
from resolute.vision.zoo.thresholds import score_threshold_of

__all__ = ["build_model", "model_names", "rebuild_options", "score_threshold_of"]
