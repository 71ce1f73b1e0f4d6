"""Evaluators that travel between processes, and label files as they come."""

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hotcoco import mask as run_lengths

from resolute.vision.detections import ClassName, Detections
from resolute.vision.evaluation import CocoEvaluator, label_table

TABLE = {1: 1}


def _labels(images: int, *, first_id: int = 1) -> dict[str, Any]:
    return {
        "images": [{"id": n, "width": 100, "height": 100, "file_name": f"{n}.png"} for n in range(images)],
        "categories": [{"id": 1, "name": "plane"}],
        "annotations": [
            {"id": first_id + n, "image_id": n, "category_id": 1, "bbox": [10, 10, 20 + n, 20], "area": 400 + n}
            for n in range(images)
        ],
    }


def _found(number: int, *, shift: float = 0.0, score: float = 0.9) -> Detections:
    box = np.array([[10 + shift, 10, 30 + number + shift, 30]], np.float32)
    return Detections(box, np.array([score], np.float32), np.ones(1, np.int64))


RANK = """
import pickle, sys
import numpy as np
from resolute.vision.detections import Detections
from resolute.vision.evaluation import CocoEvaluator

evaluator = CocoEvaluator(sys.argv[1])
for number in map(int, sys.argv[2].split(",")):
    box = np.array([[10.0 + number, 10, 30 + 2 * number, 30]], np.float32)
    evaluator.update([number], [Detections(box, np.array([0.9], np.float32), np.ones(1, np.int64))], {1: 1})
sys.stdout.buffer.write(pickle.dumps(evaluator.state()))
"""


def test_states_come_back_whole_from_other_processes(tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(_labels(6)))
    alone = CocoEvaluator(path)
    alone.update(range(6), [_found(number, shift=number) for number in range(6)], TABLE)

    # Both ranks see image 0, as happens when a sampler pads the last batch.
    ranks = [
        subprocess.Popen([sys.executable, "-c", RANK, str(path), numbers], stdout=subprocess.PIPE)
        for numbers in ("0,2,4", "1,3,5,0")
    ]
    together = CocoEvaluator(path)
    together.merge([pickle.loads(rank.communicate(timeout=60)[0]) for rank in ranks])

    assert together.summary() == alone.summary()
    assert together.seen == list(range(6))


def test_a_state_is_plain_values() -> None:
    evaluator = CocoEvaluator(_labels(1))
    evaluator.update([0], [_found(0)], TABLE)

    state = pickle.loads(pickle.dumps(evaluator.state()))

    assert list(state) == [0]
    assert state[0].rows.tolist()[0] == pytest.approx([10, 10, 20, 20, 0.9, 1])


def test_a_state_does_not_change_when_the_evaluator_goes_on() -> None:
    evaluator = CocoEvaluator(_labels(2))
    evaluator.update([0], [_found(0)], TABLE)

    state = evaluator.state()
    evaluator.update([1], [_found(1)], TABLE)

    assert list(state) == [0]


def test_merging_keeps_what_an_evaluator_saw_itself() -> None:
    good, bad = CocoEvaluator(_labels(1)), CocoEvaluator(_labels(1))
    good.update([0], [_found(0)], TABLE)
    bad.update([0], [_found(0, shift=50)], TABLE)

    good.merge(bad)

    assert good.summary()["mAP"] == pytest.approx(1.0)


@pytest.mark.parametrize("first_id", [0, 1, 1000])
def test_numbers_do_not_depend_on_how_labels_are_numbered(first_id: int) -> None:
    evaluator = CocoEvaluator(_labels(4, first_id=first_id))

    evaluator.update(range(4), [_found(number) for number in range(4)], TABLE)

    assert evaluator.summary()["mAP"] == pytest.approx(1.0)


def test_a_missing_area_is_that_of_the_box() -> None:
    labels = _labels(1)
    labels["annotations"][0].update(bbox=[0, 0, 50, 50])
    del labels["annotations"][0]["area"]
    evaluator = CocoEvaluator(labels)
    box = Detections(np.array([[0, 0, 50, 50]], np.float32), np.ones(1, np.float32), np.ones(1, np.int64))

    evaluator.update([0], [box], TABLE)

    summary = evaluator.summary()
    assert summary["mAP_medium"] == pytest.approx(1.0)
    assert (summary["mAP_small"], summary["mAP_large"]) == (-1, -1)


def test_packed_masks_of_label_files_are_measured() -> None:
    mask = np.zeros((100, 100), np.uint8)
    mask[20:50, 30:60] = 1
    packed = run_lengths.encode(np.asfortranarray(mask))
    labels = _labels(1)
    labels["annotations"][0].update(
        bbox=[30, 20, 30, 30], segmentation={"size": [100, 100], "counts": packed["counts"].decode()}
    )
    evaluator = CocoEvaluator(labels, "both")
    found = Detections(
        np.array([[30, 20, 60, 50]], np.float32), np.ones(1, np.float32), np.ones(1, np.int64), mask[None].astype(bool)
    )

    evaluator.update([0], [found], TABLE)

    assert evaluator.summary()["mask_mAP"] == pytest.approx(1.0)
    assert evaluator.summary()["mAP"] == pytest.approx(1.0)


def test_detections_in_a_crowd_are_neither_right_nor_wrong() -> None:
    labels = _labels(2)
    labels["annotations"][0].update(bbox=[0, 0, 100, 100], iscrowd=1)
    evaluator = CocoEvaluator(labels)

    evaluator.update([0, 1], [_found(0, score=0.99), _found(1)], TABLE)

    assert evaluator.summary()["mAP"] == pytest.approx(1.0)
    assert evaluator.per_class()[0].count == 1


def test_a_call_that_fails_takes_nothing() -> None:
    evaluator = CocoEvaluator(_labels(2))
    strange = Detections(np.zeros((1, 4), np.float32), np.ones(1, np.float32), np.array([4]))

    with pytest.raises(Exception, match="Image 1 has a detection with label 4"):
        evaluator.update([0, 1], [_found(0), strange], TABLE)

    assert evaluator.seen == []


def test_a_table_may_change_between_calls() -> None:
    labels = _labels(2)
    labels["categories"].append({"id": 8, "name": "ship"})
    evaluator = CocoEvaluator(labels)

    evaluator.update([0], [_found(0)], {1: 8})
    evaluator.update([1], [_found(1)], {1: 1})

    assert [evaluator.detections_of(number).rows[0, 5] for number in (0, 1)] == [8, 1]


def test_labels_of_a_detector_follow_its_class_table() -> None:
    classes = (ClassName(5, "ship"), ClassName(2, "plane"))

    assert label_table(classes, {2: "plane", 5: "ship", 9: "car"}) == {1: 5, 2: 2}
