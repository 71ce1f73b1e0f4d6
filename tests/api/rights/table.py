"""The reviewed table of `routes.md`, as values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).parent / "routes.md"


@dataclass(frozen=True)
class Row:
    method: str
    path: str
    roles: str
    basic: str
    is_refused_when_archived: bool
    answers: frozenset[int]

    @property
    def is_listed(self) -> bool:
        """The route answers everybody, each with what he may see or do."""
        return self.roles.endswith(("listed", "each"))

    @property
    def seen_with(self) -> str:
        """The least role that learns that the thing exists."""
        return "model-registry-viewer" if "{model_name}" in self.path else "viewer"

    @property
    def shows_with(self) -> str:
        """The least role that sees anything of a workspace in the answer."""
        return "model-registry-viewer" if self.roles.startswith("model-registry-viewer") else "viewer"


def rows() -> Iterator[Row]:
    for line in TABLE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[1].startswith("/"):
            method, path, roles, basic, archived, answer = cells
            answers = frozenset(map(int, re.findall(r"\d+", answer))) or {200}
            yield Row(method, path, roles, basic, archived == "refused", frozenset(answers))


ROWS = tuple(rows())
