"""`text_classifier`: {name: probability} over all classes, for models that take tokens and offsets (EmbeddingBag)."""

from pathlib import Path
from typing import Any

import torch

from resolute.domain.errors import InvalidInput
from resolute.serving.handlers.base import BaseHandler
from resolute.serving.handlers.context import Context
from resolute.serving.handlers.labels import map_class_to_label
from resolute.serving.handlers.text import ngrams, read_vocabulary, words


class TextHandler(BaseHandler):
    """Has the archive's vocabulary as `source_vocab`: a function of a token."""

    def __init__(self) -> None:
        super().__init__()
        self.source_vocab: Any = None

    def initialize(self, context: Context) -> None:
        super().initialize(context)
        self.source_vocab = read_vocabulary(Path(context.system_properties["model_dir"]))


class TextClassifier(TextHandler):
    ngrams = 2

    def preprocess(self, data: Any) -> Any:
        """All texts in one row of numbers, and where each begins."""
        rows = [self._numbers(row, f"instance {index}") for index, row in enumerate(data)]
        lengths = [len(row) for row in rows]
        starts = [sum(lengths[:index]) for index in range(len(rows))]
        flat = [number for row in rows for number in row]
        return torch.tensor(flat, device=self.device), torch.tensor(starts, device=self.device)

    def inference(self, data: Any, *args: Any, **kwargs: Any) -> Any:
        numbers, starts = data
        return super().inference(numbers, starts)

    def postprocess(self, data: Any) -> Any:
        return map_class_to_label(torch.softmax(data, dim=1).tolist(), self.mapping)

    def _numbers(self, row: Any, where: str) -> list[int]:
        text = row
        if isinstance(row, dict):
            text = next((row[key] for key in ("data", "body") if row.get(key) is not None), None)
        if isinstance(text, bytes | bytearray):
            text = bytes(text).decode("utf-8", "replace")
        if not isinstance(text, str) or not words(text):
            raise InvalidInput(f'{where} has no words: {str(text)[:40]!r}. Send {{"data": "a text"}}.')
        return [self.source_vocab(token) for token in ngrams(words(text), self.ngrams)]
