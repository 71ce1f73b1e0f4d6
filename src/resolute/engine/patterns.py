"""Regular expressions that users write, searched within a bounded time.

Some patterns take longer than the age of the universe over a short line, and Python's own engine holds the whole
process meanwhile. This one gives up, and lets others run.
"""

from resolute.domain.errors import InvalidInput

SEARCH_WITHIN_S = 0.1
"""Of one text. A sensible pattern takes microseconds."""


class TooSlow(InvalidInput):
    """A pattern that is not searched any further."""


class Pattern:
    def __init__(self, text: str) -> None:
        """Raises InvalidInput for what is no regular expression."""
        # Loaded with the first pattern: most masters never meet one, and all of them would start later.
        import regex

        self._text = text
        try:
            self._pattern = regex.compile(text)
        except (regex.error, OverflowError, RecursionError) as error:
            raise InvalidInput(
                f"{text!r} is no regular expression: {error}. Escape special characters with a backslash."
            ) from None

    def is_in(self, text: str) -> bool:
        """Raises TooSlow."""
        try:
            return self._pattern.search(text, timeout=SEARCH_WITHIN_S, concurrent=True) is not None
        except TimeoutError:
            raise TooSlow(
                f"The pattern {self._text!r} takes too long over {text[:60]!r}. Avoid repetitions inside repetitions, "
                "such as (a|aa)+."
            ) from None
