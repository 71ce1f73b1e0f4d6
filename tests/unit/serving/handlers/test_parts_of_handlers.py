"""Small parts that handlers are made of: words, labels, contexts, code, times."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torchvision.models import ResNet18_Weights, resnet18

from resolute.domain.errors import InvalidInput
from resolute.serving.handlers.code import ALIASES, classes_in, import_file, one_class, one_handler
from resolute.serving.handlers.context import Context, Metrics
from resolute.serving.handlers.downloads import without_downloads
from resolute.serving.handlers.faults import PredictionException
from resolute.serving.handlers.labels import label_of, load_label_mapping, map_class_to_label
from resolute.serving.handlers.text import ngrams, read_vocabulary, words
from resolute.serving.handlers.timing import Dimension, timed
from resolute.serving.handlers.vision import ImageBatch, joined, stacked


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("I can't; you won't.", ["i", "cannot", "you", "will", "not"]),
        ("They're sure we've won, I'd say", ["they", "are", "sure", "we", "have", "won", "i", "would", "say"]),
        ("It\u2019s   caf\u00e9", ["it", "is", "cafe"]),
        ("<p>a &amp; b</p>", ["a", "b"]),
        ("", []),
    ],
)
def test_a_text_becomes_plain_words(text: str, wanted: list[str]) -> None:
    assert words(text) == wanted


@given(st.text())
def test_words_hold_nothing_but_plain_letters_and_digits(text: str) -> None:
    assert all(word.isascii() and word == word.lower() and not set(word) & set("<>'\",. ") for word in words(text))


def test_neighbours_follow_the_words() -> None:
    assert list(ngrams(["a", "b", "c"], 3)) == ["a", "b", "c", "a b", "b c", "a b c"]


@given(st.lists(st.text(min_size=1), max_size=8), st.integers(1, 4))
def test_there_are_as_many_neighbours_as_places(tokens: list[str], longest: int) -> None:
    wanted = sum(max(len(tokens) - length + 1, 0) for length in range(1, longest + 1))

    assert len(list(ngrams(tokens, longest))) == wanted


@pytest.mark.parametrize("content", [{"<unk>": 7, "a": 1}, ["x", "a"]])
def test_a_vocabulary_is_a_table_or_a_list(tmp_path: Path, content: Any) -> None:
    (tmp_path / "source_vocab.json").write_text(json.dumps(content))

    number = read_vocabulary(tmp_path)

    assert number("a") == 1
    assert number("never seen") == (7 if isinstance(content, dict) else 0)


def test_a_vocabulary_saved_by_torch_is_read_as_data(tmp_path: Path) -> None:
    torch.save({"a": 3}, tmp_path / "source_vocab.pt")

    assert read_vocabulary(tmp_path)("a") == 3


@pytest.mark.parametrize("content", [7, {"a": "b"}])
def test_what_is_no_vocabulary_is_refused(tmp_path: Path, content: Any) -> None:
    (tmp_path / "source_vocab.json").write_text(json.dumps(content))

    with pytest.raises(InvalidInput, match="must hold a dict of token to number"):
        read_vocabulary(tmp_path)


def test_values_are_mapped_to_names() -> None:
    mapping = {"0": "cat", "3": "dog"}

    assert map_class_to_label([[0.9, 0.1]], mapping, [[3, 0]]) == [{"dog": 0.9, "cat": 0.1}]
    assert map_class_to_label([[0.9, 0.1]]) == [{"0": 0.9, "1": 0.1}]
    assert map_class_to_label([[[1, 2, 3, 4]]], mapping, [[0]]) == [{"cat": [1, 2, 3, 4]}]
    with pytest.raises(InvalidInput, match="wants lists, not a Tensor"):
        map_class_to_label(torch.zeros(1, 2), mapping)  # type: ignore[arg-type]


def test_an_empty_table_names_nothing() -> None:
    with pytest.raises(InvalidInput, match=r"class 1, .* it has 0 classes, none"):
        label_of(1, {})


def test_without_a_table_there_are_no_names(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert load_label_mapping(tmp_path / "index_to_name.json") is None
    assert "answers name classes by their number" in caplog.text


def test_a_context_keeps_each_request_apart() -> None:
    context = Context("m", "/folder", {"model": {}}, batch_size=2, gpu=1)

    context.begin_batch([{"a": "1"}, {"a": "2"}])
    context.set_response_content_type(1, "image/png")
    context.set_response_status(404, "gone", 1)

    assert [context.get_request_header(index, "a") for index in (0, 1)] == ["1", "2"]
    assert context.get_all_request_header(0) == {"a": "1"}
    assert (context.get_response_content_type(0), context.get_response_content_type(1)) == (None, "image/png")
    assert (context.get_response_status(0), context.get_response_status(1)) == ((200, ""), (404, "gone"))
    assert context.get_request_id(0) != context.get_request_id(1)
    assert context.request_processor[1].get_response_header("content-type") == "image/png"
    assert context.system_properties["gpu_id"] == 1


def test_the_next_batch_knows_nothing_of_the_last() -> None:
    context = Context("m", "/folder", {})
    context.begin_batch([{}])
    context.set_all_response_status(500, "broken")

    context.begin_batch([{}])

    assert context.get_response_status(0) == (200, "")


def test_every_kind_of_metric_is_taken() -> None:
    metrics = Metrics()

    metrics.add_counter("a", 1, None, [Dimension("k", "v")])
    metrics.add_time("b", 1.5)
    metrics.add_size("c", 2.0)
    metrics.add_percent("d", 50.0)
    metrics.add_error("e", "text")


@pytest.mark.parametrize(("profile", "count"), [(True, 1), (False, 0)])
def test_times_are_reported_where_they_are_asked_for(profile: bool, count: int) -> None:
    seen: list[str] = []

    class Handler:
        context = SimpleNamespace(
            model_yaml_config={"handler": {"profile": profile}},
            metrics=SimpleNamespace(add_time=lambda name, value: seen.append(name)),
        )

        @timed
        def preprocess(self, data: int) -> int:
            return data + 1

    assert Handler().preprocess(1) == 2
    assert len(seen) == count


def test_an_error_on_purpose_carries_its_status() -> None:
    error = PredictionException("too long", 413)

    assert (str(error), error.error_code) == ("too long", 413)


@pytest.fixture
def write(tmp_path: Path, model_process: None) -> Callable[[str, str], Path]:
    def file(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return file


def test_files_with_any_name_are_imported_and_find_their_neighbours(write: Callable[[str, str], Path]) -> None:
    write("side_part_of_model.py", "VALUE = 5\n")
    path = write("my-model.py", "from side_part_of_model import VALUE\nfrom ts import __version__\n")

    module = import_file(path)

    assert module.VALUE == 5
    assert str(ALIASES) in sys.path


def test_imported_classes_do_not_count_as_defined(write: Callable[[str, str], Path]) -> None:
    path = write("a_model.py", "from torch.nn import Linear, Module\nclass Own(Module): ...\nclass Helper: ...\n")

    assert [each.__name__ for each in classes_in(import_file(path))] == ["Helper", "Own"]
    assert one_class(path, nn.Module).__name__ == "Own"


def test_the_last_of_a_line_of_handlers_counts(write: Callable[[str, str], Path]) -> None:
    path = write("a_handler.py", "class Base:\n    def handle(self): ...\nclass Mine(Base): ...\nclass Other: ...\n")

    assert one_handler(import_file(path), path).__name__ == "Mine"


@pytest.mark.parametrize(
    "make", [lambda: resnet18(weights="DEFAULT"), lambda: resnet18(weights=ResNet18_Weights.DEFAULT)]
)
def test_weights_from_the_network_count_as_none(make: Callable[[], nn.Module]) -> None:
    with without_downloads() as skipped:
        model = make()

    assert isinstance(model, nn.Module)
    assert len(skipped) == 1
    assert "resnet18" in skipped[0]


def test_own_weights_are_loaded_as_ever_within() -> None:
    layer = nn.Linear(1, 1)

    with without_downloads() as skipped:
        layer.load_state_dict({"weight": torch.ones(1, 1), "bias": torch.ones(1)})
        fetched = torch.hub.load_state_dict_from_url("https://example.com/x.pth")

    assert layer.weight.item() == 1
    assert fetched == {}
    assert skipped == ["https://example.com/x.pth"]
    assert "without_downloads" not in nn.Module.load_state_dict.__qualname__


def test_pictures_of_one_size_become_one_tensor() -> None:
    alike = stacked([torch.zeros(3, 2, 2), torch.ones(3, 2, 2)])
    mixed = stacked([torch.zeros(3, 2, 2), torch.ones(3, 4, 2)])

    assert alike.shape == (2, 3, 2, 2)
    assert isinstance(mixed, ImageBatch)
    assert [image.dtype for image in mixed.to(torch.float64)] == [torch.float64] * 2


def test_answers_of_single_pictures_are_joined_in_their_own_form() -> None:
    tensors = joined([torch.zeros(1, 4), torch.ones(1, 4)])
    dicts = joined([{"out": torch.zeros(1, 2)}, {"out": torch.ones(1, 2)}])
    lists = joined([[{"boxes": 1}], [{"boxes": 2}]])

    assert tensors.tolist() == [[0] * 4, [1] * 4]
    assert dicts["out"].tolist() == [[0, 0], [1, 1]]
    assert lists == [{"boxes": 1}, {"boxes": 2}]
