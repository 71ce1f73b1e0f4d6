"""Files and folders that docs/dev names are there: a page must not send its reader to a file that moved."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "dev").glob("*.md"))
_NAME = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`")
_LINK = re.compile(r"\]\(([\w./-]+)\)")
_FILES = (".py", ".ts", ".tsx", ".mjs", ".css", ".md", ".toml")
_LEFT_OUT = {"node_modules", "__pycache__", "static"}


def _all_paths() -> set[str]:
    """Of the repository, below every folder that they are in: pages write `zoo/build` for a module of some package."""
    found: set[str] = set()
    for top in ("src", "tests", "web", "docs", "benchmarks", "examples"):
        for path in (ROOT / top).rglob("*"):
            parts = path.relative_to(ROOT).parts
            if _LEFT_OUT.isdisjoint(parts):
                found.update("/".join(parts[start:]) for start in range(len(parts)))
    return found | {path.name for path in ROOT.iterdir()}


PATHS = _all_paths()
MODULES = {path.removesuffix(".py") for path in PATHS if path.endswith(".py")}
PACKAGES = {path.name for path in (ROOT / "src" / "resolute").iterdir() if path.is_dir()} | {
    "tests",
    "web",
    "benchmarks",
}


def _is_path(name: str) -> bool:
    return name.endswith(_FILES) or (name.split("/")[0] in PACKAGES and "/" in name.rstrip("/"))


def _exists(name: str) -> bool:
    name = name.rstrip("/")
    module = name.rsplit(".", 1)[0]
    return name in PATHS or name in MODULES or (module != name and module in MODULES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_for_developers_names_is_there(page: Path) -> None:
    text = page.read_text()
    names = [name for name in _NAME.findall(text) if _is_path(name)]
    links = [link for link in _LINK.findall(text) if not (page.parent / link).exists()]

    assert [name for name in names if not _exists(name)] + links == []
