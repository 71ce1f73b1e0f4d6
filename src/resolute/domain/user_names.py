"""Which names a user may have, and when two names are too alike to tell apart. Pure."""

import unicodedata

from resolute.domain.errors import InvalidInput

MAX_USERNAME = 128
MAX_DISPLAY_NAME = 256


_TWINS = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u051d\u04bb"
    "\u03bf\u03bd\u03b9\u03ba\u03c1\u03b1",
    "aeopcyxijsdqwhovikpa",
)
"""Small letters of Cyrillic and Greek that look like Latin ones in most fonts."""


def checked_username(given: str) -> str:
    """`given` without surrounding spaces. Raises InvalidInput for a name that nobody could type, read or link to."""
    name = given.strip()
    if not name or any(c.isspace() or c == "/" or _is_unprintable(c) for c in name):
        raise InvalidInput(
            f"User name {given[:80]!r} is not usable: give one without spaces, slashes and control characters."
        )
    if len(name) > MAX_USERNAME:
        raise InvalidInput(f"User name {name[:20]!r}... has {len(name)} characters; {MAX_USERNAME} is the limit.")
    return name


def checked_display_name(name: str) -> str:
    if any(_is_unprintable(c) for c in name):
        raise InvalidInput(f"Display name {name[:80]!r} is not usable: give one without control characters.")
    if len(name) > MAX_DISPLAY_NAME:
        raise InvalidInput(
            f"Display name {name[:20]!r}... has {len(name)} characters; {MAX_DISPLAY_NAME} is the limit."
        )
    return name


def alike(one: str, other: str) -> bool:
    """Whether two user names differ in nothing but case, the way a character is encoded, or letters that look alike."""
    return _folded(one) == _folded(other)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().translate(_TWINS)


def _is_unprintable(character: str) -> bool:
    """Control and format characters, lone surrogates, and code points that mean nothing."""
    return unicodedata.category(character).startswith("C")
