"""The built-in handlers answer as their users know them."""

import base64
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.serving.model import Model

Archive = Callable[..., Model]
NAMES = {"0": "zero", "1": ["n01", "one"], "2": "two", "3": "three"}
DETECTOR = """
import torch
from torch import nn

class Detector(nn.Module):
    '''Finds a box of class 2 as large as the picture, and a faint one of class 1.'''

    def forward(self, images):
        return [self.one(image) for image in images]

    def one(self, image):
        height, width = image.shape[1:]
        boxes = torch.tensor([[0.0, 0.0, width, height], [1.0, 1.0, 2.0, 2.0]])
        return {"boxes": boxes, "scores": torch.tensor([0.9, 0.3]), "labels": torch.tensor([2, 1])}
"""


def _state(*scores: float) -> dict[str, torch.Tensor]:
    """The classes' scores are these, whatever the picture."""
    return {"scale": torch.ones(()), "head.weight": torch.zeros(4, 3), "head.bias": torch.tensor(scores)}


def _picture(width: int = 30, height: int = 20, mode: str = "RGB") -> dict[str, str]:
    target = io.BytesIO()
    Image.new(mode, (width, height), 128 if mode == "L" else None).save(target, "PNG")
    return {"data": base64.b64encode(target.getvalue()).decode()}


def test_a_classifier_names_its_classes_from_the_likeliest_on(archive: Archive) -> None:
    model = archive("image_classifier", state=_state(0.0, 2.0, 1.0, -1.0), files={"index_to_name.json": NAMES})

    answer = model.predict([_picture()])[0]

    assert list(answer) == ["one", "two", "zero", "three"]
    assert sum(answer.values()) == pytest.approx(1.0)


def test_a_classifier_without_names_answers_by_number(archive: Archive) -> None:
    model = archive("image_classifier", state=_state(0.0, 2.0, 1.0, -1.0))

    assert list(model.predict([_picture()])[0]) == ["1", "2", "0", "3"]


def test_a_batch_of_mixed_sizes_and_colours_is_answered_in_order(archive: Archive) -> None:
    model = archive("image_classifier", state=_state(0.0, 2.0, 1.0, -1.0))
    instances = [_picture(300, 20), _picture(10, 400, "L"), _picture(8, 8, "RGBA"), np.zeros((3, 7, 9)).tolist()]

    answers = model.predict(instances)

    assert len(answers) == 4
    assert all(list(answer) == ["1", "2", "0", "3"] for answer in answers)


def test_numbers_are_given_to_the_classifier_as_they_are(archive: Archive) -> None:
    state = _state(0.0, 0.0, 0.0, 0.0) | {"head.weight": torch.eye(4, 3)}
    model = archive("image_classifier", state=state)

    answers = model.predict([{"data": np.full((3, 2, 2), [[[9.0]], [[0]], [[0]]]).tolist()}])

    assert next(iter(answers[0])) == "0"
    assert answers[0]["0"] == pytest.approx(1 / (1 + 3 * np.exp(-9.0)), rel=1e-5)


def test_an_explanation_says_which_values_speak_for_a_class(archive: Archive) -> None:
    state = _state(0.0, 0.0, 0.0, 0.0) | {"head.weight": torch.eye(4, 3)}
    model = archive("image_classifier", state=state)

    found = np.asarray(model.explain([{"data": np.ones((3, 2, 2)).tolist(), "target": 1}]))

    assert found.shape == (1, 3, 2, 2)
    assert found[0, 1].sum() == pytest.approx(1.0)
    assert np.abs(found[0, [0, 2]]).sum() == 0


def test_a_detector_answers_boxes_above_the_threshold_class_first(archive: Archive) -> None:
    model = archive("object_detector", net=DETECTOR, files={"index_to_name.json": NAMES})

    answers = model.predict([_picture(30, 20), _picture(50, 40, "L")])

    assert [[list(row.items()) for row in found] for found in answers] == [
        [[("two", [0.0, 0.0, 30.0, 20.0]), ("score", pytest.approx(0.9))]],
        [[("two", [0.0, 0.0, 50.0, 40.0]), ("score", pytest.approx(0.9))]],
    ]


def test_a_class_that_has_no_name_is_told_in_a_sentence(archive: Archive) -> None:
    model = archive("object_detector", net=DETECTOR, files={"index_to_name.json": {"0": "zero", "1": "one"}})

    with pytest.raises(InvalidInput, match=r"class 2, which index_to_name.json does not name: it has 2 classes"):
        model.predict([_picture()])


def test_a_class_called_score_loses_nothing(archive: Archive) -> None:
    model = archive("object_detector", net=DETECTOR, files={"index_to_name.json": NAMES | {"2": "score"}})

    row = model.predict([_picture()])[0][0]

    assert len(row) == 2
    assert row["score"] == pytest.approx(0.9)


def test_a_detector_cannot_explain(archive: Archive) -> None:
    model = archive("base_handler", state=_state(0, 0, 0, 0))

    with pytest.raises(NotSupported, match="cannot explain its answers"):
        model.explain([np.zeros((3, 2, 2)).tolist()])


def test_the_base_handler_passes_numbers_through(archive: Archive) -> None:
    model = archive("base_handler", state=_state(1.0, 2.0, 3.0, 4.0))

    assert model.predict([{"data": np.zeros((3, 2, 2)).tolist()}]) == [[1.0, 2.0, 3.0, 4.0]]


SEGMENTER = """
import torch
from torch import nn

class Segmenter(nn.Module):
    def forward(self, x):
        first = x.mean(dim=1, keepdim=True)
        return {"out": torch.cat([first * 0, first * 0 + 5, first * 0], dim=1)}
"""


def test_a_segmenter_answers_class_and_probability_of_each_pixel(archive: Archive) -> None:
    model = archive("image_segmenter", net=SEGMENTER)

    found = np.asarray(model.predict([_picture()])[0])

    assert found.shape == (224, 224, 2)
    assert set(found[:, :, 0].flatten()) == {1.0}
    assert found[0, 0, 1] == pytest.approx(np.exp(5) / (np.exp(5) + 2), rel=1e-5)


TEXT = """
from torch import nn

class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.EmbeddingBag(8, 2, mode="sum")

    def forward(self, text, offsets):
        return self.embedding(text, offsets)
"""
VOCABULARY = {"<unk>": 0, "good": 1, "bad": 2, "not": 3, "not good": 4}


def _text_state() -> dict[str, torch.Tensor]:
    table = torch.zeros(8, 2)
    table[1, 1], table[2, 0], table[4, 0] = 3.0, 3.0, 9.0
    return {"embedding.weight": table}


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("GOOD!", "positive"),
        ("<b>bad</b>", "negative"),
        ("It isn't good.", "negative"),
        ("good unheard-of words", "positive"),
    ],
)
def test_a_text_is_cleaned_and_classified(archive: Archive, text: str, best: str) -> None:
    files: dict[str, Any] = {"source_vocab.json": VOCABULARY, "index_to_name.json": {"0": "negative", "1": "positive"}}
    model = archive("text_classifier", net=TEXT, state=_text_state(), files=files)

    answer = model.predict([{"data": text}])[0]

    assert max(answer, key=answer.get) == best
    assert sum(answer.values()) == pytest.approx(1.0)


def test_texts_of_a_batch_do_not_mix(archive: Archive) -> None:
    model = archive("text_classifier", net=TEXT, state=_text_state(), files={"source_vocab.json": VOCABULARY})
    texts = ["good", "bad bad bad", "good good"]

    together = model.predict([{"data": text} for text in texts])

    assert together == [model.predict([{"data": text}])[0] for text in texts]


@pytest.mark.parametrize("instance", [{"data": ""}, {"data": "!!!"}, {"data": 7}, {"other": "x"}])
def test_a_text_without_words_is_refused(archive: Archive, instance: dict[str, Any]) -> None:
    model = archive("text_classifier", net=TEXT, state=_text_state(), files={"source_vocab.json": VOCABULARY})

    with pytest.raises(InvalidInput, match="instance 0 has no words"):
        model.predict([instance])


def test_a_text_model_without_vocabulary_is_refused(archive: Archive) -> None:
    with pytest.raises(InvalidInput, match=r"needs a vocabulary: add source_vocab.json or source_vocab.pt"):
        archive("text_classifier", net=TEXT, state=_text_state())


@pytest.mark.parametrize(
    ("names", "sentence"),
    [("{", "is not JSON"), ([1], "must be a JSON object"), ({"0": 7}, "the name of class 0 is 7")],
)
def test_a_bad_class_table_is_refused_at_load(archive: Archive, names: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        archive("image_classifier", state=_state(0, 0, 0, 0), files={"index_to_name.json": names})


def test_an_older_class_table_is_understood(archive: Archive) -> None:
    files = {"index_to_name.json": {"object_type_names": ["a", "b", "c", "d"]}}
    model = archive("image_classifier", state=_state(0.0, 2.0, 1.0, -1.0), files=files)

    assert list(model.predict([_picture()])[0]) == ["b", "c", "a", "d"]


GREY_NET = """
import torch
from torch import nn

class Grey(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 1, 1)
        self.head = nn.Linear(28 * 28, 2)

    def forward(self, x):
        return torch.log_softmax(self.head(self.first(x).flatten(1)), dim=1)
"""
DIGITS = """
from torchvision import transforms
from ts.torch_handler.image_classifier import ImageClassifier

class Digits(ImageClassifier):
    image_processing = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])

    def postprocess(self, data):
        return data.argmax(1).tolist()
"""


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "1"])
def test_a_model_of_one_channel_gets_grey_pictures(archive: Archive, mode: str) -> None:
    weights = {"first.weight": torch.ones(1, 1, 1, 1), "first.bias": torch.zeros(1)}
    head = {"head.weight": torch.stack([torch.zeros(784), torch.ones(784)]), "head.bias": torch.zeros(2)}
    model = archive("digits.py", net=GREY_NET, state=weights | head, files={"digits.py": DIGITS})
    picture = io.BytesIO()
    Image.new(mode, (28, 28), "white").save(picture, "PNG")
    text = base64.b64encode(picture.getvalue())
    encoded = np.empty(1, dtype=object)
    encoded[0] = text

    assert model.predict([{"data": text.decode()}]) == [1]
    assert model.predict([{"data": np.full((1, 28, 28), -1.0).tolist()}]) == [0]
    assert model.infer([{"input-0": encoded}])[0]["input-0"].tolist() == [1]
