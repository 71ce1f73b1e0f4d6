"""Augmentation: pictures and their boxes changed together. `make_transform` knows all of it by name."""

from resolute.vision.transforms.presets import augmentation_names, make_transform

__all__ = ["augmentation_names", "make_transform"]
