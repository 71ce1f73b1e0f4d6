"""Accelerate on Resolute: `Tracker` reports, `save` and `restore` keep what the Accelerator prepared."""

from resolute.training.accelerate import Tracker, restore, save

__all__ = ["Tracker", "restore", "save"]
