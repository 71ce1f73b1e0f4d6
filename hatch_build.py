"""Refuses to build a release without the web UI, which is not in version control and easily forgotten."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "src/resolute/server/static/index.html"


class WebUi(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Installing a checkout in place (`version` is "editable") needs no page."""
        if version != "editable" and not (Path(self.root) / PAGE).is_file():
            raise RuntimeError(
                f"{PAGE} is missing, so the package would have no web UI. Run `make ui` first, or `make wheel`."
            )
