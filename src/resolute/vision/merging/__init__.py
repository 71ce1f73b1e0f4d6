"""Detections of overlapping windows become one set: suppressing (NMS) or merging (NMM, greedy NMM) boxes."""

from resolute.vision.merging.merge import Merged, Method, Metric, merge

__all__ = ["Merged", "Method", "Metric", "merge"]
