"""The master's own log: a ring with ids that never repeat, and a file."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from resolute.server import logbook as module
from resolute.server.logbook import Logbook, keep_log


@pytest.fixture
def logger() -> logging.Logger:
    return logging.Logger("resolute.test")


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, given back as it was."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield root
    for handler in root.handlers[:]:
        if handler not in before:
            root.removeHandler(handler)
            handler.close()
    root.setLevel(level)


@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"])
def test_lines_keep_their_level(logger: logging.Logger, level: str) -> None:
    book = Logbook()
    logger.addHandler(book)

    logger.log(logging.getLevelName(level), "hello")

    assert book.since(0)[0].level == f"LOG_LEVEL_{level}"


def test_old_lines_leave_but_ids_go_on(logger: logging.Logger) -> None:
    book = Logbook()
    logger.addHandler(book)

    for number in range(module.RING_LINES + 5):
        logger.info("line %d", number)

    lines = book.since(0)
    assert len(lines) == module.RING_LINES
    assert (lines[0].id, lines[-1].id, book.next_id) == (5, module.RING_LINES + 4, module.RING_LINES + 5)


def test_readers_go_on_where_they_were(logger: logging.Logger) -> None:
    book = Logbook()
    logger.addHandler(book)
    logger.info("one")
    logger.info("two")

    assert [line.message for line in book.since(1)] == ["resolute.test: two"]


def test_somebody_is_told_of_each_line(logger: logging.Logger) -> None:
    told: list[int] = []
    book = Logbook(lambda: told.append(1))
    logger.addHandler(book)

    logger.info("one")

    assert told == [1]


def test_an_exception_is_kept_with_its_trace(logger: logging.Logger) -> None:
    book = Logbook()
    logger.addHandler(book)

    try:
        {}["lost"]
    except KeyError:
        logger.exception("it failed")

    assert "KeyError: 'lost'" in book.since(0)[0].message


def test_everything_also_goes_to_a_file(root: logging.Logger, tmp_path: Path) -> None:
    book = Logbook()

    keep_log(book, tmp_path / "home")
    logging.getLogger("resolute.some").info("kept")

    assert "INFO resolute.some: kept" in (tmp_path / "home" / "master.log").read_text()
    assert book.since(0)[-1].message == "resolute.some: kept"
