"""Detection on images of any size: overlapping windows in batches, merged into one result, with flat memory."""

from resolute.vision.slicing.predict import MergeSettings, find_regions, predict_large
from resolute.vision.slicing.regions import Patch, Regions

__all__ = ["MergeSettings", "Patch", "Regions", "find_regions", "predict_large"]
