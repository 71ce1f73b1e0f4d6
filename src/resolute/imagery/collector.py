"""Python's cycle collector, held back while very many small objects are made.

It would walk over all of them again and again, and find nothing: labels hold no cycles. This alone doubles the speed.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
