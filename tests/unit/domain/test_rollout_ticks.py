"""One tick at a time: what a roll-out does in each situation."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from resolute.domain.deployment import Deployment, Guard, Revision, RevisionState, Scaling, Serving
from resolute.domain.errors import IllegalTransition
from resolute.domain.replica import Replica, ReplicaState
from resolute.domain.rollout import (
    Changes,
    Observed,
    candidate_of,
    pause_s,
    tick,
    traffic,
    worse_than_stable,
)
from resolute.domain.traffic import Load, Outcome

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)
HERE = Observed(sources={1: "", 2: "", 3: ""})
S, R = RevisionState, ReplicaState


def deployment(**fields: object) -> Deployment:
    known = Deployment(
        id=1, name="echo", namespace="default", user_id=1, workspace_id=1, created_at=NOON, updated_at=NOON
    )
    return replace(known, **fields)  # type: ignore[arg-type]


def revision(number: int, state: RevisionState = S.READY, *, wanted: int = 1, **serving: object) -> Revision:
    return Revision(
        id=number,
        deployment_id=1,
        number=number,
        source="/m",
        model_version_id=None,
        checkpoint_uuid=None,
        serving=Serving(**serving),  # type: ignore[arg-type]
        created_at=NOON,
        state=state,
        replicas_wanted=wanted,
    )


def replica(task_id: str, number: int, state: ReplicaState = R.READY, **fields: object) -> Replica:
    known = Replica(task_id=task_id, revision=number, state=state, since=NOON, allocation_id=f"{task_id}.1")
    return replace(known, **fields)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------- the start


def test_a_new_deployment_starts_one_replica() -> None:
    changes = tick(deployment(), [revision(1, S.STARTING, wanted=0)], [], HERE, NOON)

    assert changes.start == (1,)
    assert changes.revisions[0].replicas_wanted == 1


def test_nothing_starts_before_the_files_are_here() -> None:
    changes = tick(deployment(), [revision(1, S.STARTING)], [], Observed(sources={1: None}), NOON)

    assert changes == Changes()


def test_files_that_cannot_be_had_fail_the_revision() -> None:
    observed = Observed(sources={1: "the bucket is gone"})

    changes = tick(deployment(), [revision(1, S.STARTING)], [], observed, NOON)

    assert (changes.revisions[0].state, changes.revisions[0].reason) == (S.FAILED, "the bucket is gone")


def test_the_first_ready_replica_makes_its_revision_the_stable_one() -> None:
    changes = tick(deployment(), [revision(1, S.STARTING)], [replica("a", 1)], HERE, NOON)

    assert changes.deployment is not None
    assert changes.deployment.stable == 1
    assert changes.revisions[0].state is S.READY


def test_a_tick_with_nothing_to_do_changes_nothing() -> None:
    assert tick(deployment(stable=1), [revision(1)], [replica("a", 1)], HERE, NOON) == Changes()


def test_a_start_that_takes_too_long_fails_with_the_last_words() -> None:
    starting = replica("a", 1, R.STARTING, reason="loading shard 3")

    changes = tick(deployment(), [revision(1, S.STARTING)], [starting], HERE, NOON + timedelta(seconds=121))

    assert changes.revisions[0].state is S.FAILED
    assert "120 s" in changes.revisions[0].reason
    assert "loading shard 3" in changes.revisions[0].reason


def test_waiting_for_slots_is_not_a_slow_start() -> None:
    waiting = replica("a", 1, R.QUEUED)

    assert tick(deployment(), [revision(1, S.STARTING)], [waiting], HERE, LATER) == Changes()


@pytest.mark.parametrize(("failures", "state"), [(1, S.STARTING), (2, S.STARTING), (3, S.FAILED)])
def test_three_crashes_before_it_was_ever_ready_are_the_end(failures: int, state: RevisionState) -> None:
    crashed = replica("a", 1, R.RESTARTING, failures=failures, reason="no such layer")

    changes = tick(deployment(), [revision(1, S.STARTING)], [crashed], HERE, NOON)

    after = changes.revisions[0] if changes.revisions else revision(1, S.STARTING)
    assert after.state is state
    assert state is S.STARTING or "no such layer" in after.reason


@pytest.mark.parametrize(("failures", "seconds"), [(0, 1), (1, 1), (2, 2), (3, 4), (7, 60), (50, 60)])
def test_the_pause_before_another_process_grows(failures: int, seconds: float) -> None:
    assert pause_s(failures) == seconds


def test_a_crashed_replica_is_restarted_after_its_pause() -> None:
    crashed = replica("a", 1, R.RESTARTING, failures=2)
    world = (deployment(stable=1), [revision(1)], [crashed], HERE)

    assert tick(*world, NOON + timedelta(seconds=1.9)).restart == ()
    assert tick(*world, NOON + timedelta(seconds=2)).restart == ("a",)


def test_a_stable_revision_that_crashes_is_never_given_up() -> None:
    crashed = replica("a", 1, R.RESTARTING, failures=30)

    changes = tick(deployment(stable=1), [revision(1)], [crashed], HERE, LATER)

    assert changes == Changes(restart=("a",))


# ------------------------------------------------------------------------------------------------- updates, canaries


def test_the_old_revision_answers_until_the_new_one_is_ready() -> None:
    revisions = [revision(2, S.STARTING), revision(1)]
    replicas = [replica("a", 1), replica("b", 2, R.STARTING)]

    changes = tick(deployment(stable=1), revisions, replicas, HERE, NOON)

    assert changes == Changes()
    assert traffic(deployment(stable=1), revisions, replicas) == ((1, 100.0),)


def test_a_ready_update_takes_over_and_the_old_replicas_are_drained_not_stopped() -> None:
    revisions = [revision(2, S.STARTING), revision(1)]

    changes = tick(deployment(stable=1), revisions, [replica("a", 1), replica("b", 2)], HERE, NOON)

    assert changes.deployment is not None
    assert (changes.deployment.stable, changes.deployment.previous) == (2, 1)
    assert (changes.drain, changes.stop) == (("a",), ())


def test_an_update_takes_over_only_with_as_many_replicas_as_it_replaces() -> None:
    wide = deployment(stable=1, scaling=Scaling(min_replicas=1, max_replicas=3))
    revisions = [revision(2), revision(1, wanted=3)]
    old = [replica(name, 1) for name in "abc"]
    loads = {1: Load(concurrency=[10.0] * 60, rate=[1.0])}
    observed = replace(HERE, loads=loads)

    changes = tick(wide, revisions, [*old, replica("x", 2)], observed, NOON)
    ready = tick(wide, revisions, [*old, *(replica(name, 2) for name in "xyz")], observed, NOON)

    assert changes.deployment is None
    assert changes.start == (2, 2)
    assert ready.deployment is not None
    assert ready.deployment.stable == 2


def test_a_canary_gets_nothing_until_it_is_ready() -> None:
    trying = deployment(stable=1, canary=2, canary_percent=30)
    revisions = [revision(2, S.STARTING), revision(1)]

    before = traffic(trying, revisions, [replica("a", 1), replica("b", 2, R.STARTING)])
    after = traffic(trying, [revision(2), revision(1)], [replica("a", 1), replica("b", 2)])

    assert before == ((1, 100.0),)
    assert after == ((2, 30.0), (1, 70.0))


@pytest.mark.parametrize("state", [R.RESTARTING, R.DRAINING, R.STOPPING, R.QUEUED])
def test_a_canary_without_a_ready_replica_gets_nothing(state: ReplicaState) -> None:
    trying = deployment(stable=1, canary=2, canary_percent=30)

    assert traffic(trying, [revision(2), revision(1)], [replica("a", 1), replica("b", 2, state)]) == ((1, 100.0),)


def test_a_canary_of_zero_percent_is_ready_but_gets_nothing() -> None:
    trying = deployment(stable=1, canary=2, canary_percent=0)

    assert traffic(trying, [revision(2), revision(1)], [replica("a", 1), replica("b", 2)]) == ((1, 100.0),)


def test_a_canary_that_cannot_start_is_dropped_and_traffic_stays() -> None:
    trying = deployment(stable=1, canary=2, canary_percent=30)
    crashed = replica("b", 2, R.RESTARTING, failures=3, reason="bad weights")

    changes = tick(trying, [revision(2, S.STARTING), revision(1)], [replica("a", 1), crashed], HERE, NOON)

    assert changes.deployment is not None
    assert (changes.deployment.stable, changes.deployment.canary, changes.deployment.canary_percent) == (1, None, 0)
    assert changes.stop == ("b",)


def test_a_shadow_that_cannot_start_is_dropped() -> None:
    trying = deployment(stable=1, shadow=2, shadow_percent=100)
    crashed = replica("b", 2, R.RESTARTING, failures=3)

    changes = tick(trying, [revision(2, S.STARTING), revision(1)], [replica("a", 1), crashed], HERE, NOON)

    assert changes.deployment is not None
    assert (changes.deployment.shadow, changes.deployment.shadow_percent) == (None, 0)


def test_a_shadow_is_no_candidate_for_taking_over() -> None:
    trying = deployment(stable=1, shadow=2, shadow_percent=100)
    revisions = [revision(2), revision(1)]

    assert candidate_of(trying, revisions) is None
    assert tick(trying, revisions, [replica("a", 1), replica("b", 2)], HERE, NOON) == Changes()


# ------------------------------------------------------------------------------------------------------- the guard


@pytest.mark.parametrize(
    ("canary", "stable", "word"),
    [
        (Outcome(requests=49, errors=49), Outcome(requests=500), ""),
        (Outcome(requests=50, errors=2), Outcome(requests=500), ""),
        (Outcome(requests=50, errors=3), Outcome(requests=500), "3 of its 50 requests failed"),
        (Outcome(requests=50, errors=30), Outcome(requests=500, errors=290), ""),
        (Outcome(requests=50, errors=25), Outcome(), "25 of its 50"),
        (Outcome(requests=50, p95_s=0.1), Outcome(requests=50, p95_s=0.06), ""),
        (Outcome(requests=50, p95_s=0.121), Outcome(requests=50, p95_s=0.06), "its p95 is 121.0 ms"),
        (Outcome(requests=50, p95_s=0.004), Outcome(requests=50, p95_s=0.001), ""),
        (Outcome(requests=50, p95_s=9.0), Outcome(requests=10, p95_s=0.01), ""),
        (Outcome(requests=50, p95_s=9.0), Outcome(requests=50), ""),
    ],
)
def test_the_guard_compares_with_the_stable_revision(canary: Outcome, stable: Outcome, word: str) -> None:
    why = worse_than_stable(Guard(), canary, stable)

    assert (word in why) if word else why == ""


def test_the_guard_can_be_switched_off_as_a_whole_and_for_latency() -> None:
    failing = Outcome(requests=100, errors=100, p95_s=9.0)

    assert worse_than_stable(Guard(enabled=False), failing, Outcome(requests=100)) == ""
    slow = Outcome(requests=100, p95_s=9.0)
    assert worse_than_stable(Guard(latency_factor=0), slow, Outcome(requests=100, p95_s=0.01)) == ""


def test_a_bad_canary_is_taken_back_with_the_reason() -> None:
    trying = deployment(stable=1, canary=2, canary_percent=30)
    outcomes = {1: Outcome(requests=200), 2: Outcome(requests=100, errors=50)}

    changes = tick(
        trying,
        [revision(2), revision(1)],
        [replica("a", 1), replica("b", 2)],
        replace(HERE, outcomes=outcomes),
        NOON,
    )

    assert changes.deployment is not None
    assert changes.deployment.canary is None
    assert changes.revisions[0].state is S.FAILED
    assert changes.revisions[0].reason.startswith("rolled back by the guard: 50 of its 100")
    assert changes.drain == ("b",)


# ------------------------------------------------------------------------------------------------- coming and going


def test_a_drained_replica_is_stopped_and_a_stubborn_one_killed() -> None:
    retired = [revision(2), revision(1, S.RETIRED, wanted=0)]
    draining = replica("a", 1, R.DRAINING)
    stopping = replica("b", 1, R.STOPPING)
    others = [replica("c", 2)]

    waiting = tick(deployment(stable=2), retired, [draining, stopping, *others], HERE, NOON)
    drained = tick(deployment(stable=2), retired, [replace(draining, is_drained=True), *others], HERE, NOON)
    late = tick(deployment(stable=2), retired, [draining, stopping, *others], HERE, NOON + timedelta(seconds=100))

    assert waiting == Changes()
    assert drained == Changes(stop=("a",))
    assert late == Changes(stop=("a",), kill=("b",))


def test_scaling_down_lets_go_of_those_that_do_not_answer_first() -> None:
    replicas = [
        replica("old", 1),
        replica("young", 1, since=NOON + timedelta(seconds=5)),
        replica("starting", 1, R.STARTING),
        replica("crashed", 1, R.RESTARTING),
    ]

    changes = tick(deployment(stable=1), [revision(1, wanted=4)], replicas, HERE, NOON)

    assert changes.drain == ("young",)
    assert set(changes.stop) == {"starting", "crashed"}


def test_a_request_that_waits_brings_a_replica_back_from_none() -> None:
    idle = deployment(stable=1, scaling=Scaling(min_replicas=0))
    none = [revision(1, wanted=0)]

    asleep = tick(idle, none, [], replace(HERE, idle_s=1e6), NOON)
    asked = tick(idle, none, [], replace(HERE, waiting=1), NOON)

    assert asleep == Changes()
    assert asked.start == (1,)


def test_an_idle_deployment_is_drained_to_none() -> None:
    idle = deployment(stable=1, scaling=Scaling(min_replicas=0, idle_s=60))

    changes = tick(idle, [revision(1)], [replica("a", 1)], replace(HERE, idle_s=61), NOON)

    assert changes.drain == ("a",)
    assert changes.revisions[0].replicas_wanted == 0


def test_a_deleted_deployment_drains_everything_and_is_gone_at_last() -> None:
    deleted = deployment(stable=1, canary=2, canary_percent=30, is_deleted=True)
    revisions = [revision(2), revision(1)]
    replicas = [replica("a", 1), replica("b", 2), replica("c", 2, R.QUEUED)]

    changes = tick(deleted, revisions, replicas, HERE, NOON)
    last = tick(deleted, [revision(2, S.RETIRED, wanted=0)], [], HERE, NOON)

    assert (set(changes.drain), changes.stop) == ({"a", "b"}, ("c",))
    assert traffic(deleted, revisions, replicas) == ()
    assert last == Changes(is_gone=True)


def test_a_revision_moves_only_as_listed() -> None:
    assert revision(1, S.RETIRED).moved_to(S.STARTING).state is S.STARTING
    with pytest.raises(IllegalTransition, match="Revision 1 is FAILED; it cannot become READY"):
        revision(1, S.FAILED).moved_to(S.READY)


# ------------------------------------------------------------------------------------------------------ hung ones


def test_a_replica_that_hangs_is_killed_and_another_one_started_at_once() -> None:
    hung = replica("a", 1, R.UNHEALTHY, is_hung=True, reason="4 probes in a row failed: no answer within 1 s")

    changes = tick(deployment(stable=1), [revision(1)], [hung], HERE, LATER)

    assert (changes.kill, changes.start, changes.stop) == (("a",), (1,), ())
    assert changes.notices == (
        "A replica of revision 1 hangs and is replaced: 4 probes in a row failed: no answer within 1 s.",
    )


def test_one_that_is_only_unhealthy_is_left_alone() -> None:
    changes = tick(deployment(stable=1), [revision(1)], [replica("a", 1, R.UNHEALTHY)], HERE, LATER)

    assert changes == Changes()


def test_the_unhealthy_one_goes_first_and_in_peace() -> None:
    replicas = [replica("ill", 1, R.UNHEALTHY), replica("well", 1, since=LATER)]

    changes = tick(deployment(stable=1), [revision(1, wanted=1)], replicas, HERE, LATER)

    assert (changes.drain, changes.stop) == (("ill",), ())


def test_an_unhealthy_canary_gets_no_share() -> None:
    split = traffic(
        deployment(stable=1, canary=2, canary_percent=30),
        [revision(1), revision(2)],
        [replica("a", 1), replica("b", 2, R.UNHEALTHY)],
    )

    assert split == ((1, 100.0),)
