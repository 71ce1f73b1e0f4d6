"""What changed between two snapshots of a search, as a small JSON value, and how to put it back.

A snapshot grows with the search, an event changes a few numbers of it. Patches are plain data: reading them back asks
no searcher for a decision, so a release that decides differently still restores what an older one decided.

A patch is null (nothing changed), {"set": value}, {"in": {key: patch, ...}, "out": [keys]} for objects,
{"each": [[position, patch], ...]} for arrays of objects, or {"at": start, "cut": length, "put": items} for other
arrays and for strings.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from resolute.search.tracked_list import Splice, Written

Patch = dict[str, Any]
_ABSENT = object()


def changes(old: Any, new: Any) -> Patch | None:
    """What turns `old` into `new`. Both are JSON values; neither is changed nor copied."""
    if old is new:
        return None
    if isinstance(new, Written) and (splice := new.splice_from(old)):
        return _spliced(old, new, splice)
    if type(old) is not type(new) and not (isinstance(old, list) and isinstance(new, list)):
        return {"set": new}
    if isinstance(new, dict):
        return _dict_changes(old, new)
    if isinstance(new, list) and new and isinstance(new[0], dict) and len(old) == len(new):
        return _each_changes(old, new)
    if old == new:
        return None
    return _splice(old, new) if isinstance(new, list | str) else {"set": new}


def _spliced(old: Sequence[Any], new: Sequence[Any], splice: Splice) -> Patch | None:
    at, cut, put = splice
    if cut == put == 1 and isinstance(new[at], dict):
        inner = changes(old[at], new[at])
        return inner and {"each": [[at, inner]]}
    return {"at": at, "cut": cut, "put": new[at : at + put]}


def patched(old: Any, patch: Patch | None) -> Any:
    """`old` after `patch`; `old` itself stays as it was."""
    if patch is None:
        return old
    if "set" in patch:
        return patch["set"]
    if "in" in patch:
        return _dict_patched(old, patch)
    if "each" in patch:
        result = list(old)
        for at, inner in patch["each"]:
            result[at] = patched(old[at], inner)
        return result
    start, cut, put = patch["at"], patch["cut"], patch["put"]
    return old[:start] + put + old[start + cut :]


def _dict_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Patch | None:
    inner: dict[str, Any] = {}
    for key, value in new.items():
        before = old.get(key, _ABSENT)
        if before is value:
            continue
        patch = {"set": value} if before is _ABSENT else changes(before, value)
        if patch is not None:
            inner[key] = patch
    gone = [] if old.keys() <= new.keys() else [key for key in old if key not in new]
    if not inner and not gone:
        return None
    return {"in": inner, "out": gone} if gone else {"in": inner}


def _dict_patched(old: Mapping[str, Any], patch: Patch) -> dict[str, Any]:
    result = {key: value for key, value in old.items() if key not in patch.get("out", ())}
    for key, inner in patch["in"].items():
        result[key] = patched(result.get(key), inner)
    return result


def _each_changes(old: Sequence[Any], new: Sequence[Any]) -> Patch | None:
    inner = []
    for at, (before, after) in enumerate(zip(old, new, strict=True)):
        if before is not after and (patch := changes(before, after)) is not None:
            inner.append([at, patch])
    return {"each": inner} if inner else None


def _splice(old: Any, new: Any) -> Patch:
    """One stretch cut out of a list or string, and what stands there instead."""
    shorter = min(len(old), len(new))
    end = _equal_from_right(old, new, shorter)
    start = _equal_from_left(old, new, shorter - end)
    return {"at": start, "cut": len(old) - end - start, "put": new[start : len(new) - end]}


def _equal_from_right(old: Any, new: Any, most: int) -> int:
    """Length of the common end, by halving what is unknown: comparing slices is a loop in C."""
    known = 0
    while most > known:
        middle = (known + most + 1) // 2
        if old[len(old) - middle : len(old) - known] == new[len(new) - middle : len(new) - known]:
            known = middle
        else:
            most = middle - 1
    return known


def _equal_from_left(old: Any, new: Any, most: int) -> int:
    """Length of the common beginning: nearly always all there is, or all but the one item that was replaced."""
    for known in (most, most - 1):
        if known >= 0 and old[:known] == new[:known]:
            return known
    known = 0
    while most > known:
        middle = (known + most + 1) // 2
        if old[known:middle] == new[known:middle]:
            known = middle
        else:
            most = middle - 1
    return known
