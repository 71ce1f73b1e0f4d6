"""YAML text into plain values, with the line of every key, so that each later error can name it.

Only JSON's values come out: maps with text keys, lists, text, numbers, booleans and null. Dates stay text. Nothing
that YAML could build beyond those is built, and a document cannot grow out of bounds through its aliases.
"""

import math
import re
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from resolute.spec.limits import MAX_NODES
from resolute.spec.problem import Path, Problem

MAX_TEXT = 1_000_000
MAX_DEPTH = 100
_TAG = "tag:yaml.org,2002:"


@dataclass(slots=True)
class Document:
    """`lines` maps the path of every key and item to its line, counted from 1."""

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    syntax_line: int | None = None
    """Line of a fault that kept the text from being read at all."""


def read_document(text: str) -> Document:
    """Never raises: what is wrong is in `problems`."""
    document = Document()
    if len(text) > MAX_TEXT:
        document.problems.append(Problem((), f"is {len(text):,} characters long; {MAX_TEXT:,} are the limit"))
        return document
    try:
        _check_brackets(text)
        node = _compose(text)
        if node is not None:
            document.value = _Builder(document).build(node, ())
    except MarkedYAMLError as error:
        document.syntax_line = _syntax_line(error, text)
        document.problems.append(Problem((), _syntax_sentence(error, text, document.syntax_line)))
    except (YAMLError, ValueError) as error:
        document.problems.append(Problem((), f"is not YAML: {str(error).splitlines()[0]}"))
    except _TooMany:
        document.problems.append(Problem((), f"has more than {MAX_NODES:,} keys and values, which is the limit"))
    except (RecursionError, _TooMuch):
        document.problems.append(Problem((), f"is nested or repeated too deeply; {MAX_DEPTH} levels are the limit"))
    return document


class _TooMuch(Exception):
    """The document is larger once written out than anything a person would mean."""


class _TooMany(Exception):
    """The document has more parts than are read in a moment."""


class _BoundedComposer(Composer):  # type: ignore[misc, unused-ignore]
    """Stops while it reads: the text was small enough, but small parts take as long as large ones."""

    _left = MAX_NODES

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise _TooMany
        return super().compose_node(parent, index)


def _check_brackets(text: str) -> None:
    """The scanner takes seconds over thousands of open brackets, so those are counted before it is asked."""
    depth = 0
    for match in re.finditer(r"[\[\]{}]", text):
        depth = depth + 1 if match[0] in "[{" else max(depth - 1, 0)
        # Brackets inside text are counted too; nobody leaves this many open there.
        if depth > 5 * MAX_DEPTH:
            raise _TooMuch


def _compose(text: str) -> Node | None:
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _BoundedComposer
    yaml.composer.warn_double_anchors = False
    node: Node | None = yaml.compose(text)
    return node


class _Builder:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._left = MAX_NODES

    def build(self, node: Node, path: Path) -> Any:
        self._left -= 1
        if self._left < 0 or len(path) > MAX_DEPTH:
            raise _TooMuch
        self._document.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, MappingNode):
            return self._map(node, path)
        if isinstance(node, SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _map(self, node: MappingNode, path: Path) -> dict[str, Any]:
        built: dict[str, Any] = {}
        inherited: list[Node] = []
        for key_node, value_node in node.value:
            if _short_tag(key_node) == "merge":
                inherited += value_node.value if isinstance(value_node, SequenceNode) else [value_node]
                continue
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, ScalarNode):
                self._refuse(path, "has a key that is a list or a map; keys are text")
                continue
            key = _whole_text(str(key_node.value))
            if key in built:
                first = self._document.lines[(*path, key)]
                self._refuse((*path, key), f"is given twice, on lines {first} and {line}; keep one")
                continue
            self._document.lines[(*path, key)] = line
            built[key] = self.build(value_node, (*path, key))
        return self._inherit(inherited, path, built)

    def _inherit(self, sources: list[Node], path: Path, built: dict[str, Any]) -> dict[str, Any]:
        """`<<: *base`: what the mapping itself does not say comes from the first source that does."""
        for source in sources:
            if not isinstance(source, MappingNode):
                self._refuse(path, "has `<<` with something that is not a map; name an anchor of a map")
                continue
            for key, value in self.build(source, path).items():
                built.setdefault(key, value)
        return built

    def _scalar(self, node: Node, path: Path) -> Any:
        kind, text = _short_tag(node), _whole_text(str(node.value))
        if kind in ("str", "timestamp"):
            return text
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind == "int":
            return _integer(text)
        if kind == "float":
            return self._number(text, path)
        self._refuse(path, f"has the tag {node.tag}, which is not read here; write a plain value")
        return None

    def _number(self, text: str, path: Path) -> float:
        number = float(text.lower().replace("_", "").replace(".inf", "inf").replace(".nan", "nan"))
        if not math.isfinite(number):
            self._refuse(path, f"is {text}, which JSON cannot hold; use a finite number")
            return 0.0
        return number

    def _refuse(self, path: Path, message: str) -> None:
        self._document.problems.append(Problem(path, message))


def _short_tag(node: Node) -> str:
    tag = str(node.tag or "")
    return tag.removeprefix(_TAG) if tag.startswith(_TAG) else f"!{tag}"


def _whole_text(text: str) -> str:
    """JSON writes a rare character as two escapes, which YAML reads as two halves; join them."""
    if text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _integer(text: str) -> int:
    plain = text.replace("_", "")
    # 0o17 and 0x1f say their base; 017 is a decimal number with a leading zero.
    return int(plain, 0) if re.match(r"[+-]?0[oxb]", plain) else int(plain)


def _syntax_line(error: MarkedYAMLError, text: str) -> int | None:
    """Where to look: a bracket or quote left open is better found at its start than at the end of the file."""
    marks = [mark for mark in (error.problem_mark, error.context_mark) if mark is not None]
    inside = [mark for mark in marks if mark.line < len(text.splitlines())]
    return next((mark.line + 1 for mark in inside or marks), None)


def _syntax_sentence(error: MarkedYAMLError, text: str, line: int | None) -> str:
    problem = str(error.problem or error.context or "cannot be read")
    lines = text.splitlines()
    source = lines[line - 1] if line and line <= len(lines) else ""
    if "\t" in source[: len(source) - len(source.lstrip()) + 1] or "'\\t'" in problem:
        return f"is not YAML: there is a tab in the indentation of {source.strip()[:40]!r}; indent with spaces"
    if "but found another document" in problem:
        return "holds several documents; keep one, without `---` between"
    return f"is not YAML: {problem} at {source.strip()[:60]!r}"
