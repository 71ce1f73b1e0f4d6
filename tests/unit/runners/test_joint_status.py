"""What becomes of a gang when its parts end."""

import pytest

from resolute.domain.gang import Phase
from resolute.engine.ports.runner import GangStatus
from resolute.runners.joint_status import PartStatus, joint_status, must_end

RUNNING = GangStatus(phase=Phase.RUNNING)
PULLING = GangStatus(phase=Phase.PULLING)
DONE = GangStatus(phase=Phase.ENDED, exit_code=0)
LOST = GangStatus(phase=Phase.ENDED, is_lost=True, reason="It is gone.")


def failed(code: int) -> GangStatus:
    return GangStatus(phase=Phase.ENDED, exit_code=code, reason=f"It ended with {code}.")


def parts(*statuses: GangStatus, ended_at: tuple[float, ...] = ()) -> list[PartStatus]:
    times = ended_at or tuple(float(number) for number in range(len(statuses)))
    return [PartStatus(f"n{number}", status, times[number]) for number, status in enumerate(statuses)]


@pytest.mark.parametrize(
    ("statuses", "phase"),
    [((RUNNING, PULLING), Phase.PULLING), ((RUNNING, DONE), Phase.RUNNING), ((failed(3), RUNNING), Phase.RUNNING)],
)
def test_a_gang_is_as_far_as_its_slowest_part_and_over_when_all_are(
    statuses: tuple[GangStatus, ...], phase: Phase
) -> None:
    assert joint_status(parts(*statuses)) == GangStatus(phase=phase)


def test_a_gang_whose_parts_all_end_well_ends_well() -> None:
    assert joint_status(parts(DONE, DONE)) == DONE


def test_a_gang_ends_as_the_part_did_that_failed_first() -> None:
    status = joint_status(parts(failed(143), failed(3), DONE, ended_at=(7.0, 5.0, 1.0)))

    assert (status.exit_code, status.reason) == (3, "Node n1: It ended with 3.")


def test_a_lost_part_explains_what_became_of_the_others() -> None:
    status = joint_status(parts(failed(1), LOST))

    assert (status.is_lost, status.exit_code, status.reason) == (True, None, "Node n1: It is gone.")


def test_a_part_on_its_own_needs_no_name() -> None:
    assert joint_status(parts(failed(3))) == failed(3)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((RUNNING, RUNNING), False),
        ((DONE, RUNNING), False),
        ((failed(3), RUNNING), True),
        ((RUNNING, LOST), True),
        ((failed(3), LOST), False),
    ],
)
def test_the_rest_must_end_once_a_part_has_failed(statuses: tuple[GangStatus, ...], expected: bool) -> None:
    assert must_end(parts(*statuses)) is expected
