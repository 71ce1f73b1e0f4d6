"""Which names a checkpoint may bring: they become names of files, wherever it is stored."""

from datetime import UTC, datetime

import pytest

from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.errors import InvalidInput

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def checkpoint(uuid: str = "c1", **resources: int) -> Checkpoint:
    return Checkpoint(uuid=uuid, state=CheckpointState.COMPLETED, report_time=NOW, resources=resources, metadata={})


def test_ordinary_names_pass() -> None:
    checkpoint(
        "0b03e751-9983-44c0-bb5b-5bcd", **{"weights": 7, "code/": 0, "code/model.py": 1, "ä": 0}
    ).require_storable()


@pytest.mark.parametrize("uuid", ["", ".", "..", "../x", "a/b", "a\0b", "-x", "x" * 129])
def test_an_id_that_is_no_single_name_is_refused(uuid: str) -> None:
    with pytest.raises(InvalidInput, match="no checkpoint id"):
        checkpoint(uuid).require_storable()


@pytest.mark.parametrize("path", ["", "/", "/etc/passwd", "../x", "a/../b", "a//b", "a/./b", "a\\b", "a\0b", "x" * 256])
def test_a_path_that_leads_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="no path inside it"):
        checkpoint(**{path: 1}).require_storable()


def test_a_size_below_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no file has"):
        checkpoint(weights=-1).require_storable()
