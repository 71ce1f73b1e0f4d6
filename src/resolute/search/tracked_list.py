"""A list that knows what changed in it since it was last written down.

A search keeps a number for each of its thousands of trials and changes one at a time. Comparing whole lists to find it
would cost more than the decision did.
"""

import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, SupportsIndex, TypeVar

T = TypeVar("T")


class Splice(NamedTuple):
    """At `at`, `cut` items of the older list became `put` items of the newer one."""

    at: int
    cut: int
    put: int


class Written(list[T]):
    """A tracked list as a snapshot holds it. Nobody changes it."""

    __slots__ = ("__weakref__", "_older", "_splice")

    def __init__(self, items: Iterable[T], older: "Written[T] | None", splice: Splice | None) -> None:
        super().__init__(items)
        # Weak, or every snapshot would keep all that came before it.
        self._older = None if older is None else weakref.ref(older)
        self._splice = splice

    def splice_from(self, older: object) -> Splice | None:
        """What turns `older` into this. None: not known; compare the two."""
        return self._splice if self._older is not None and self._older() is older else None


class TrackedList(list[T]):
    """A list in which one change, or a row of additions, can be told without looking; after others it is compared."""

    __slots__ = ("_is_traced", "_splice", "_written")

    def __init__(self, items: Iterable[T] = ()) -> None:
        super().__init__(items)
        self._written: Written[T] | None = None
        self._splice: Splice | None = None
        self._is_traced = True

    def append(self, item: T) -> None:
        self._trace(len(self), 0, 1)
        super().append(item)

    def insert(self, at: SupportsIndex, item: T) -> None:
        self._trace(int(at), 0, 1)
        super().insert(at, item)

    def __setitem__(self, at: Any, item: Any) -> None:
        self._trace(at, 1, 1)
        super().__setitem__(at, item)

    def written(self) -> Written[T]:
        """A copy; the same one as last time if nothing has changed."""
        if self._written is not None and self._is_traced and self._splice is None:
            return self._written
        self._written = Written(self, self._written, self._splice if self._is_traced else None)
        self._splice, self._is_traced = None, True
        return self._written

    def _trace(self, at: Any, cut: int, put: int) -> None:
        before = self._splice
        if not isinstance(at, int) or not 0 <= at <= len(self):
            self._is_traced = False
        elif before is None:
            self._splice = Splice(at, cut, put)
        elif cut == 0 and at == before.at + before.put:
            self._splice = Splice(before.at, before.cut, before.put + put)
        elif (at, cut, put) != before or cut != put:
            self._is_traced = False


def _untraced(name: str) -> Callable[..., Any]:
    inherited = getattr(list, name)

    def change(tracked: TrackedList[Any], *arguments: Any, **options: Any) -> Any:
        tracked._is_traced = False
        return inherited(tracked, *arguments, **options)

    return change


for _name in ("extend", "remove", "pop", "clear", "sort", "reverse", "__delitem__", "__iadd__", "__imul__"):
    setattr(TrackedList, _name, _untraced(_name))
