"""Search algorithms: events in, actions out. Pure.

`new_searcher` and `restore_searcher` are the way in; heavy packages load only with the searcher that needs them.
"""

from resolute.search.registry import extend_searcher, new_searcher, restore_searcher
from resolute.search.searcher import Searcher

__all__ = ["Searcher", "extend_searcher", "new_searcher", "restore_searcher"]
