"""Which part of a batch of records a log has already: a writer may have died within it, and others have written since.

Each stretch of a batch stands behind a mark with the batch's name and the byte of the batch that it begins with. Pure.
"""

from mmap import mmap

from resolute.domain.log import batch_mark


def missing_part(log: bytes | mmap, name: str, records: bytes, *, begin: int) -> tuple[bytes, bool]:
    """What is to be appended, and whether the log ends right before it, within a record or a mark. `begin`: where to
    look from."""
    at, position = 0, begin
    while True:
        mark, rest = batch_mark(f"{name} {at}"), records[at:]
        found = log.find(mark, position)
        if found < 0:
            return _whole_stretch(log, mark + rest, begin)
        position = found + len(mark)
        written = _common_length(log[position : position + len(rest)], rest)
        if written == len(rest):
            return b"", False
        if position + written == len(log):
            return rest[written:], True
        # Somebody else has written since, and ended the torn record: it is written again, behind a mark of its own.
        at += rest.rfind(b"\n", 0, written) + 1


def _whole_stretch(log: bytes | mmap, stretch: bytes, begin: int) -> tuple[bytes, bool]:
    """All of it, but for a part of its mark that the log may end in."""
    tail = log[max(begin, log.rfind(b"\n") + 1) :]
    is_torn = bool(tail) and stretch.startswith(tail)
    return (stretch[len(tail) :], True) if is_torn else (stretch, False)


def _common_length(left: bytes, right: bytes) -> int:
    if right.startswith(left):
        return len(left)
    return next(at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b)
