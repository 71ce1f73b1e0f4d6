"""Refuses to build a release without the web UI, which is not in version control and easily forgotten; and puts the
names of the Kaptain SDK at the end of the path, where an SDK that is installed comes first."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "src/resolute/server/static/index.html"
ALIASES = "resolute/training/lifecycle/aliases"
PTH = "resolute_aliases.pth"


class ReleaseHook(BuildHookInterface[Any]):
    _scratch: TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Installing a checkout in place (`version` is "editable") needs no page."""
        is_in_place = version == "editable"
        if not is_in_place and not (Path(self.root) / PAGE).is_file():
            raise RuntimeError(
                f"{PAGE} is missing, so the package would have no web UI. Run `make ui` first, or `make wheel`."
            )
        if self.target_name == "wheel":
            include = "force_include_editable" if is_in_place else "force_include"
            build_data.setdefault(include, {})[str(self._path_file(is_in_place=is_in_place))] = PTH

    def _path_file(self, *, is_in_place: bool) -> Path:
        """A line of it is a folder that Python appends to its path: relative to where the package is installed."""
        self._scratch = TemporaryDirectory()
        line = str(Path(self.root) / "src" / ALIASES) if is_in_place else ALIASES
        path = Path(self._scratch.name) / PTH
        path.write_text(f"{line}\n")
        return path

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self._scratch is not None:
            self._scratch.cleanup()
