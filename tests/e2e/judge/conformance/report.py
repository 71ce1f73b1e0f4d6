"""The page `docs/determined-conformance.md`: what was tried, in words that do not change from run to run. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence

WORKS = "works"
_INTRODUCTION = """# Conformance with Determined

What the official client of Determined 0.38.1 says when it is used against this master: every verb of its command line
and every public name of its Python SDK, each tried once with real experiments. `make conformance` writes this page
anew, and a test compares it. `det deploy`, which starts clusters of its own, is left out.
"""
_CHANGING = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"127\.0\.0\.1:\d+"), "MASTER"),
    (re.compile(r"/\S*/(pytest-of-|tmp)\S*"), "FILE"),
    (re.compile(r"\b\d{2,}\b"), "N"),
)


def page(cli: Mapping[str, str], sdk: Mapping[str, str]) -> str:
    """`cli` and `sdk`: name to why it does not work; empty: it does."""
    rows = [("command line", cli), ("Python SDK", sdk)]
    table = [f"| {what} | {len(found)} | {sum(not why for why in found.values())} |" for what, found in rows]
    parts = [
        _INTRODUCTION,
        "| | names | work |\n|---|---|---|\n" + "\n".join(table),
        "## Command line",
        _table("verb", {f"det {verb}": why for verb, why in cli.items()}),
        "## Python SDK",
        _table("name", sdk),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def by_verb(verbs: Iterable[str], results: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The first complaint of the lines about a verb."""
    found: dict[str, str] = dict.fromkeys(sorted(verbs), "nobody tries it")
    tried: set[str] = set()
    for result in results:
        verb = result["verb"]
        if verb not in tried or not found[verb]:
            found[verb] = result["said"]
        tried.add(verb)
    return found


def _table(what: str, found: Mapping[str, str]) -> str:
    rows = [f"| `{name}` | {_verdict(why)} |" for name, why in sorted(found.items())]
    return "\n".join([f"| {what} | |", "|---|---|", *rows])


def _verdict(why: str) -> str:
    for pattern, word in _CHANGING:
        why = pattern.sub(word, why)
    return " ".join(why.replace("|", "\\|").split()) or WORKS


def names_on(text: str) -> set[str]:
    """Everything that the page has a row for."""
    return set(re.findall(r"^\| `(.+?)` \|", text, re.MULTILINE))
