"""Text for classifiers: cleaning, words, neighbours, and the vocabulary of an archive.

Pure but for `read_vocabulary`.
"""

import html
import json
import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.training.state_file import read_state

_TAGS = re.compile(r"<[^>]*>")
_CONTRACTIONS = (
    (re.compile(r"\bcan't\b", re.I), "cannot"),
    (re.compile(r"\bwon't\b", re.I), "will not"),
    (re.compile(r"\bshan't\b", re.I), "shall not"),
    (re.compile(r"\blet's\b", re.I), "let us"),
    (re.compile(r"n't\b", re.I), " not"),
    (re.compile(r"'re\b", re.I), " are"),
    (re.compile(r"'ve\b", re.I), " have"),
    (re.compile(r"'ll\b", re.I), " will"),
    (re.compile(r"'m\b", re.I), " am"),
    (re.compile(r"'d\b", re.I), " would"),
    (re.compile(r"\b(it|he|she|that|there|what|where|who|how)'s\b", re.I), r"\1 is"),
)
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_UNKNOWN = ("<unk>", "<UNK>", "[UNK]")
VOCABULARY_FILES = ("source_vocab.json", "source_vocab.pt")


def words(text: str) -> list[str]:
    """Without tags, accents and punctuation, in lower case, contractions written out."""
    plain = html.unescape(_TAGS.sub("", text)).lower().replace("\u2019", "'")
    for pattern, full in _CONTRACTIONS:
        plain = pattern.sub(full, plain)
    ascii_only = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    return ascii_only.translate(_NO_PUNCTUATION).split()


def ngrams(tokens: list[str], longest: int) -> Iterator[str]:
    """The tokens, then pairs of neighbours, and so on up to `longest`."""
    for length in range(1, longest + 1):
        for start in range(len(tokens) - length + 1):
            yield " ".join(tokens[start : start + length])


def read_vocabulary(folder: Path) -> Callable[[str], int]:
    """Token to number. A token that is not there gets the number of <unk>, or 0."""
    path = next((folder / name for name in VOCABULARY_FILES if (folder / name).is_file()), None)
    if path is None:
        raise InvalidInput(f"text_classifier needs a vocabulary: add {' or '.join(VOCABULARY_FILES)} to --extra-files.")
    table = _table(path)
    unknown = next((table[token] for token in _UNKNOWN if token in table), 0)
    return lambda token: table.get(token, unknown)


def _table(path: Path) -> Mapping[str, int]:
    content: Any = json.loads(path.read_bytes()) if path.suffix == ".json" else read_state(path)
    if isinstance(content, list):
        content = {token: index for index, token in enumerate(content)}
    if not isinstance(content, Mapping) or not all(isinstance(number, int) for number in content.values()):
        raise InvalidInput(f"{path.name} must hold a dict of token to number, or a list of tokens.")
    return content
