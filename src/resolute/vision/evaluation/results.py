"""What an evaluation says, as values. Every list is in the order of the class table or said otherwise."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassResult:
    """One class. Values are -1 where there is nothing to measure, as in COCO's own numbers.

    `precision` and `recall` are those at IoU 0.5 of the score threshold with the best F1, which is `best_score`.
    """

    id: int
    name: str
    ap: float
    ap_50: float
    ap_75: float
    ar_100: float
    precision: float
    recall: float
    f1: float
    best_score: float
    count: int
    """Labels, crowds left out."""
    detections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Precision over 101 steps of recall, at one IoU, and the score that reaches each step."""

    id: int
    name: str
    recall: list[float]
    precision: list[float]
    score: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Row: what it is; column: what was found. The last row and column are the background."""

    class_ids: list[int]
    names: list[str]
    matrix: list[list[int]]
    iou: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorKind:
    """How often one kind of error happened, and how much AP at IoU 0.5 would be won without it."""

    count: int
    lost_ap: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageResult:
    """One image at one IoU and score. An image with nothing on it and nothing found has an F1 of 1."""

    id: int
    file_name: str
    found: int
    """True positives."""
    wrong: int
    """False positives."""
    missed: int
    f1: float
