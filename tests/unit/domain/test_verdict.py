"""What becomes of a trial when its processes end."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.trial import Trial, TrialState
from resolute.domain.verdict import Exit, Next, judge

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TRIAL = Trial(
    id=1,
    experiment_id=1,
    request_id="r",
    task_id="1.r",
    state=TrialState.ACTIVE,
    changed_at=NOON,
    hparams={},
    seed=0,
    start_time=NOON,
)
ALLOCATION = Allocation(
    id="1.r.1",
    task_id="1.r",
    job_id="j",
    state=AllocationState.TERMINATED,
    changed_at=NOON,
    created_at=NOON,
    slots_needed=1,
)
ASKED = replace(ALLOCATION, preempt_requested_at=NOON)
HEARD = replace(ASKED, preempt_acked=True)


def test_a_clean_exit_completes_the_trial() -> None:
    verdict = judge(TRIAL, ALLOCATION, Exit(code=0), max_restarts=5)

    assert (verdict.next, verdict.state) == (Next.END, TrialState.COMPLETED)


def test_a_failure_is_tried_again() -> None:
    verdict = judge(TRIAL, ALLOCATION, Exit(code=1), max_restarts=5)

    assert verdict.next is Next.RESTART


def test_a_failure_after_the_last_restart_is_an_error_that_says_how_often_it_was_tried() -> None:
    verdict = judge(replace(TRIAL, restarts=2), ALLOCATION, Exit(code=3), max_restarts=2)

    assert (verdict.next, verdict.state) == (Next.END, TrialState.ERROR)
    assert "exit code 3 after 2 restarts" in verdict.reason


def test_what_a_failure_said_goes_on_as_one_sentence() -> None:
    said = Exit(code=3, reason="The entrypoint ended with exit code 3.")

    verdict = judge(TRIAL, ALLOCATION, said, max_restarts=0)

    assert verdict.reason == "The entrypoint ended with exit code 3 after 0 restarts (max_restarts 0)"


def test_no_restart_at_all_when_max_restarts_is_zero() -> None:
    verdict = judge(TRIAL, ALLOCATION, Exit(code=1), max_restarts=0)

    assert (verdict.next, verdict.state) == (Next.END, TrialState.ERROR)


def test_a_log_policy_forbids_another_try_and_is_named() -> None:
    verdict = judge(TRIAL, ALLOCATION, Exit(code=1), max_restarts=5, retries_cancelled="out of memory")

    assert (verdict.next, verdict.state) == (Next.END, TrialState.ERROR)
    assert "'out of memory'" in verdict.reason


def test_a_preempted_trial_that_heard_goes_back_to_the_queue() -> None:
    assert judge(TRIAL, HEARD, Exit(code=0), max_restarts=0).next is Next.REQUEUE


def test_a_trial_that_finished_before_it_heard_is_complete() -> None:
    verdict = judge(TRIAL, ASKED, Exit(code=0), max_restarts=0)

    assert (verdict.next, verdict.state) == (Next.END, TrialState.COMPLETED)


def test_a_trial_killed_while_leaving_is_not_counted_as_failed() -> None:
    assert judge(TRIAL, ASKED, Exit(code=137), max_restarts=0).next is Next.REQUEUE


def test_a_paused_trial_waits() -> None:
    paused = replace(TRIAL, state=TrialState.PAUSED)

    assert judge(paused, HEARD, Exit(code=0), max_restarts=0).next is Next.WAIT
    assert judge(paused, ASKED, Exit(code=143), max_restarts=0).next is Next.WAIT


def test_a_trial_at_its_target_waits_for_the_searcher() -> None:
    assert judge(replace(TRIAL, is_waiting=True), HEARD, Exit(code=0), max_restarts=0).next is Next.WAIT


def test_a_lost_trial_is_requeued_without_counting() -> None:
    assert judge(TRIAL, ALLOCATION, Exit(code=-1, is_lost=True), max_restarts=0).next is Next.REQUEUE


@pytest.mark.parametrize(
    ("state", "end"),
    [
        (TrialState.STOPPING_COMPLETED, TrialState.COMPLETED),
        (TrialState.STOPPING_CANCELED, TrialState.CANCELED),
        (TrialState.STOPPING_KILLED, TrialState.CANCELED),
        (TrialState.STOPPING_ERROR, TrialState.ERROR),
    ],
)
@pytest.mark.parametrize("code", [0, 1, 137])
def test_a_stopping_trial_ends_as_it_was_told_to(state: TrialState, end: TrialState, code: int) -> None:
    verdict = judge(replace(TRIAL, state=state), ALLOCATION, Exit(code=code), max_restarts=5)

    assert (verdict.next, verdict.state) == (Next.END, end)


def test_invalid_hyperparameters_end_in_error_and_a_requested_stop_in_completion() -> None:
    invalid = judge(replace(TRIAL, early_exit="INVALID_HP"), ALLOCATION, Exit(code=0), max_restarts=5)
    asked = judge(replace(TRIAL, early_exit="USER_REQUESTED_STOP"), ALLOCATION, Exit(code=0), max_restarts=5)

    assert invalid.state is TrialState.ERROR
    assert asked.state is TrialState.COMPLETED
