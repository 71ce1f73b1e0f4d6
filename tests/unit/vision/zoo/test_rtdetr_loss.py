"""RT-DETR's loss: perfect answers cost little, wrong ones more, and images without objects are no fault."""

from types import SimpleNamespace

import torch

from resolute.vision.zoo.rtdetr_loss import detection_losses

CONFIG = SimpleNamespace(
    weight_loss_vfl=1.0, weight_loss_bbox=5.0, weight_loss_giou=2.0, focal_loss_alpha=0.75, focal_loss_gamma=2.0
)
BOXES = torch.tensor([[0.3, 0.3, 0.2, 0.2], [0.7, 0.6, 0.2, 0.4]])
LABELS = [{"boxes": BOXES, "class_labels": torch.tensor([0, 2])}]


def losses(logits: torch.Tensor, boxes: torch.Tensor, labels: list[dict[str, torch.Tensor]]) -> dict[str, float]:
    """One decoder layer, and the same as the encoder's proposals."""
    _, found, _ = detection_losses(
        logits,
        labels,
        logits.device,
        boxes,
        CONFIG,
        logits[:, None],
        boxes[:, None],
        enc_topk_logits=logits,
        enc_topk_bboxes=boxes,
    )
    return {name: float(value) for name, value in found.items()}


def answers(*, shift: float = 0.0, classes: tuple[int, int] = (0, 2)) -> tuple[torch.Tensor, torch.Tensor]:
    """Four queries, of which the last two stand for the objects."""
    logits = torch.full((1, 4, 3), -12.0)
    logits[0, 2, classes[0]] = logits[0, 3, classes[1]] = 12.0
    boxes = torch.full((1, 4, 4), 0.1)
    boxes[0, 2:] = BOXES
    boxes[0, 2:, 0] += shift
    return logits, boxes


def test_perfect_answers_cost_next_to_nothing() -> None:
    found = losses(*answers(), LABELS)

    assert sorted(found) == ["loss_bbox", "loss_classification", "loss_giou"]
    assert all(abs(value) < 1e-3 for value in found.values())


def test_boxes_beside_their_objects_cost_distance_and_overlap() -> None:
    exact, beside = losses(*answers(), LABELS), losses(*answers(shift=0.05), LABELS)

    assert beside["loss_bbox"] > exact["loss_bbox"] + 0.1
    assert beside["loss_giou"] > exact["loss_giou"] + 0.1


def test_wrong_classes_cost_classification_alone() -> None:
    exact, wrong = losses(*answers(), LABELS), losses(*answers(classes=(1, 1)), LABELS)

    assert wrong["loss_classification"] > exact["loss_classification"] + 1
    assert wrong["loss_bbox"] == exact["loss_bbox"]


def test_an_image_without_objects_costs_only_what_is_said_about_it() -> None:
    nothing = [{"boxes": torch.zeros(0, 4), "class_labels": torch.zeros(0, dtype=torch.int64)}]

    silent = losses(torch.full((1, 4, 3), -12.0), answers()[1], nothing)
    loud = losses(answers()[0], answers()[1], nothing)

    assert all(abs(value) < 1e-3 for value in silent.values())
    assert loud["loss_classification"] > 1
    assert loud["loss_bbox"] == 0


def test_which_query_finds_an_object_does_not_matter() -> None:
    logits, boxes = answers(shift=0.02)
    order = torch.tensor([3, 1, 0, 2])

    assert losses(logits[:, order], boxes[:, order], LABELS) == losses(logits, boxes, LABELS)
