"""Faster R-CNN training on whole batches of equal images: static shapes, no host waits, one captured step."""

from resolute.vision.batched.inference import BatchedDetections, batched_detect
from resolute.vision.batched.model import BatchedFasterRCNN, batched
from resolute.vision.batched.sampling import at_random, first_come
from resolute.vision.batched.step import TrainStep
from resolute.vision.batched.targets import PaddedTargets, pad_targets

__all__ = [
    "BatchedDetections",
    "BatchedFasterRCNN",
    "PaddedTargets",
    "TrainStep",
    "at_random",
    "batched",
    "batched_detect",
    "first_come",
    "pad_targets",
]
