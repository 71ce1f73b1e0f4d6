"""How good a detector is: COCO metrics for boxes and masks, per class, with curves, confusion and kinds of errors."""

from resolute.vision.evaluation.evaluate import evaluate, label_table
from resolute.vision.evaluation.evaluator import SUMMARY_KEYS, CocoEvaluator, Findings, State
from resolute.vision.evaluation.pictures import draw_image
from resolute.vision.evaluation.report import as_document, report_evaluation, write_evaluation
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
    "as_document",
    "draw_image",
    "evaluate",
    "label_table",
    "report_evaluation",
    "write_evaluation",
]
