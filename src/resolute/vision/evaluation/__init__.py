"""How good a detector is: COCO metrics for boxes and masks, per class, with curves, confusion and kinds of errors."""

from resolute.vision.evaluation.evaluator import SUMMARY_KEYS, CocoEvaluator, Findings, State
from resolute.vision.evaluation.results import ClassResult, Confusion, Curve, ErrorKind, ImageResult

__all__ = [
    "SUMMARY_KEYS",
    "ClassResult",
    "CocoEvaluator",
    "Confusion",
    "Curve",
    "ErrorKind",
    "Findings",
    "ImageResult",
    "State",
]
