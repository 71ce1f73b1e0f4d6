"""Where each key of a configuration came from, so that a sentence about it can say so. Reads no files itself."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from resolute.domain.errors import InvalidConfig
from resolute.spec.document import Document, read_document
from resolute.spec.merge import Override, apply_overrides, merge_configs, read_overrides
from resolute.spec.problem import Problem, dotted


@dataclass(frozen=True, slots=True)
class Source:
    """A configuration text joined with its template and overrides. `config` is what they say together."""

    filename: str
    document: Document
    overrides: tuple[Override, ...]
    has_template: bool
    config: dict[str, object]
    problems: tuple[Problem, ...]
    """What could be read but cannot stand, such as a key given twice."""

    def place(self, problem: Problem) -> str:
        """`const.yaml:12: resources.slots_per_trial: "two" is not a whole number`"""
        where = self._where(problem)
        key = dotted(problem.path)
        return f"{where}: {key}: {problem.message}" if key else f"{where}: {problem.message}"

    def sentences(self, problems: Iterable[Problem]) -> list[str]:
        """All of them, in the order in which the file is read."""
        ordered = sorted(problems, key=lambda problem: self._line(problem) or 0)
        return [self.place(problem) for problem in ordered]

    def _where(self, problem: Problem) -> str:
        if problem.where:
            return problem.where
        for override in reversed(self.overrides):
            if problem.path[: len(override.path)] == override.path:
                return f"--config {override.text}"
        path = problem.path[:-1] if problem.points_at_parent else problem.path
        if self.has_template and path and path not in self.document.lines:
            return "template"
        line = self._line(problem)
        return f"{self.filename}:{line}" if line else self.filename

    def _line(self, problem: Problem) -> int | None:
        """The line of the key, or of the nearest thing around it that was written."""
        if self.document.syntax_line:
            return self.document.syntax_line
        path = problem.path[:-1] if problem.points_at_parent else problem.path
        while path and path not in self.document.lines:
            path = path[:-1]
        return self.document.lines.get(path)


def read_source(
    text: str, *, filename: str, template: dict[str, object] | None = None, overrides: Sequence[str] = ()
) -> Source:
    """Raises InvalidConfig when the text is not a YAML map at all; every lesser fault is kept in `problems`."""
    document = read_document(text)
    typed, faults = read_overrides(overrides)
    config = document.value if isinstance(document.value, dict) else {}
    config = merge_configs(apply_overrides(config, typed), template or {})
    problems = (*document.problems, *_shape_problems(document, bool(typed or template)), *faults)
    source = Source(filename, document, tuple(typed), template is not None, config, problems)
    if not isinstance(document.value, dict | None) or document.syntax_line or (document.value is None and problems):
        raise InvalidConfig(source.sentences(problems))
    return source


def _shape_problems(document: Document, has_more: bool) -> list[Problem]:
    if document.problems or isinstance(document.value, dict) or (document.value is None and has_more):
        return []
    if document.value is None:
        return [Problem((), "is empty; write keys such as `name: my-experiment`, one per line")]
    kind = "a list" if isinstance(document.value, list) else "a single value"
    return [Problem((), f"is {kind}, not a map; write keys such as `name: my-experiment`, one per line")]
