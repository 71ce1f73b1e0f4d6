"""From what people ask to what runs and what the router is told."""

from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.deployment import Guard, RevisionState, Scaling, Serving
from resolute.domain.errors import AlreadyExists, IllegalTransition, InvalidInput, NotFound
from resolute.domain.log import LogLine, LogStream
from resolute.domain.rollout import Changes
from resolute.domain.task import TaskType
from resolute.engine.deployments import deployments as engine
from resolute.engine.deployments.models import SourceSpec
from resolute.engine.deployments.rollouts import BUSY_WAIT_S, IDLE_WAIT_S, Rollouts
from resolute.serving.router.fake import FakeRouter


def same(serving: Serving) -> Serving:
    return serving


def test_a_deployment_runs_its_model_server_as_a_task_and_routes_to_it(stage: Any) -> None:
    stage.create()

    stage.settle()

    gang = stage.world.runner.started[0]
    assert gang.entrypoint[:3] == ("python3", "-m", "resolute.serving.replica")
    assert gang.env["RESOLUTE_MODEL_SOURCE"] == str(stage.model)
    assert gang.entrypoint[gang.entrypoint.index("--name") + 1] == "echo"
    assert gang.env["RESOLUTE_ALLOCATION_ID"] == gang.allocation_id
    assert stage.split() == {1: 100.0}
    routed = stage.router.routed("echo").revisions[0].replicas
    assert [r.id for r in routed] == [gang.allocation_id]
    assert stage.deployment().stable == 1


def test_nothing_is_routed_before_a_replica_is_ready(stage: Any) -> None:
    stage.create()

    stage.turn(3)

    assert len(stage.world.runner.started) == 1
    assert stage.router.routed("echo").split == ()


def test_the_router_is_not_started_without_deployments(stage: Any) -> None:
    stage.turn(3)

    assert stage.router.starts == 0
    assert stage.router.tables == []


def test_a_table_that_is_the_same_is_not_published_again(stage: Any) -> None:
    stage.create()
    stage.settle()
    count = len(stage.router.tables)

    stage.turn(5)

    assert len(stage.router.tables) == count
    versions = [table.version for table in stage.router.tables]
    assert versions == sorted(set(versions))


def test_slots_are_claimed_from_the_queue(stage: Any) -> None:
    stage.create(serving=Serving(slots=2))
    stage.create("other", serving=Serving(slots=1))

    stage.settle()

    assert [r.state for r in stage.replicas()] == ["READY"]
    assert [r.state for r in stage.replicas("other")] == ["QUEUED"]
    assert stage.revision(1, "other").state is RevisionState.STARTING


@pytest.mark.parametrize(
    ("serving", "sentence"),
    [
        (Serving(slots=3), "serving.slots: 3 slots per replica do not fit"),
        (Serving(resource_pool="tpu"), "there is no resource pool 'tpu'. There are: default"),
    ],
)
def test_what_can_never_run_is_refused_before_anything_is_written(stage: Any, serving: Serving, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        stage.create(serving=serving)

    with pytest.raises(NotFound):
        stage.deployment()


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({}, InvalidInput, "exactly one"),
        ({"model": "a/1", "model_uri": "/x"}, InvalidInput, "2 were given"),
        ({"model": "digits/3"}, NotFound, "model not found: digits"),
        ({"checkpoint_uuid": "nope"}, NotFound, "checkpoint not found: nope"),
        ({"model_uri": "/no/such/folder"}, InvalidInput, "there is no '/no/such/folder'"),
        ({"model_uri": "relative/path"}, InvalidInput, "absolute path"),
        ({"model_uri": "hdfs://bucket/x"}, InvalidInput, "cannot be read"),
        ({"model_uri": "s3://bucket/"}, InvalidInput, "names a bucket and nothing in it"),
    ],
)
def test_a_source_that_is_not_there_is_refused(stage: Any, given: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        stage.create(source=SourceSpec(**given))


def test_a_taken_name_is_refused_unless_it_is_to_be_replaced(stage: Any) -> None:
    stage.create()
    stage.settle()
    with pytest.raises(AlreadyExists, match="Replace it"):
        stage.create()

    stage.create(replace_existing=True)
    stage.settle()

    assert stage.deployment().stable == 2
    assert stage.split() == {2: 100.0}


def test_an_update_moves_traffic_when_the_new_one_is_ready_and_drains_the_old(stage: Any) -> None:
    stage.create()
    stage.settle()
    old = stage.replicas()[0]

    engine.update_deployment(stage.platform, "echo", stage.source(), same)
    stage.turn(2)
    during = stage.split()
    stage.get_ready()
    stage.router.keep_busy(old.allocation_id, 1)
    stage.turn(3)
    draining = [r.state for r in stage.replicas() if r.task_id == old.task_id]
    stage.router.keep_busy(old.allocation_id, 0)
    stage.settle()

    assert during == {1: 100.0}
    assert stage.split() == {2: 100.0}
    assert draining == ["DRAINING"]
    assert [r.revision for r in stage.replicas()] == [2]
    assert stage.deployment().previous == 1


def test_a_replica_is_let_go_only_when_the_router_has(stage: Any) -> None:
    stage.create()
    stage.settle()
    engine.update_deployment(stage.platform, "echo", stage.source(), same)
    stage.router.is_behind = True
    stage.settle()
    before = sorted(r.state for r in stage.replicas())

    stage.router.is_behind = False
    stage.settle()

    assert before == ["DRAINING", "READY"]
    assert [r.state for r in stage.replicas()] == ["READY"]


def test_a_canary_is_split_promoted_and_rolled_back(stage: Any) -> None:
    stage.create()
    stage.settle()

    engine.start_canary(stage.platform, "echo", 30, stage.source(), same)
    stage.settle()
    canary = stage.split()
    engine.start_canary(stage.platform, "echo", 60, SourceSpec(), same)
    stage.settle()
    more = stage.split()
    engine.promote_canary(stage.platform, "echo")
    stage.settle()
    promoted = stage.split()
    engine.roll_back(stage.platform, "echo")
    stage.settle()

    assert (canary, more, promoted) == ({2: 30.0, 1: 70.0}, {2: 60.0, 1: 40.0}, {2: 100.0})
    assert stage.split() == {1: 100.0}
    assert stage.revision(2).state is RevisionState.RETIRED


def test_rolling_back_a_canary_leaves_the_stable_one_alone(stage: Any) -> None:
    stage.create()
    stage.settle()
    engine.start_canary(stage.platform, "echo", 30, stage.source(), same)
    stage.settle()

    engine.roll_back(stage.platform, "echo")
    stage.settle()

    assert stage.split() == {1: 100.0}
    assert stage.revision(2).reason == "rolled back"
    assert [r.revision for r in stage.replicas()] == [1]


def test_rolling_back_an_update_under_way_gives_it_up(stage: Any) -> None:
    stage.create()
    stage.settle()
    engine.update_deployment(stage.platform, "echo", stage.source(), same)
    stage.turn()

    engine.roll_back(stage.platform, "echo")
    stage.settle()

    assert stage.deployment().stable == 1
    assert stage.revision(2).state is RevisionState.RETIRED


def test_a_revision_can_be_pinned_and_a_canary_goes(stage: Any) -> None:
    stage.create()
    stage.settle()
    engine.update_deployment(stage.platform, "echo", stage.source(), same)
    stage.settle()
    engine.start_canary(stage.platform, "echo", 10, stage.source(), same)
    stage.settle()

    engine.pin_revision(stage.platform, "echo", 1)
    stage.settle()

    assert stage.split() == {1: 100.0}
    assert [stage.revision(n).state for n in (1, 2, 3)] == ["READY", "RETIRED", "RETIRED"]


def test_pinning_the_canary_promotes_it(stage: Any) -> None:
    stage.create()
    stage.settle()
    engine.start_canary(stage.platform, "echo", 10, stage.source(), same)
    stage.settle()

    engine.pin_revision(stage.platform, "echo", 2)
    stage.settle()

    assert stage.split() == {2: 100.0}


def test_a_shadow_is_routed_beside_the_split_and_can_end(stage: Any) -> None:
    stage.create()
    stage.settle()

    engine.start_shadow(stage.platform, "echo", 50, stage.source(), same)
    stage.settle()
    routed = stage.router.routed("echo")
    engine.stop_shadow(stage.platform, "echo")
    stage.settle()

    assert (dict(routed.split), routed.shadow, routed.shadow_percent) == ({1: 100.0}, 2, 50.0)
    assert {r.number for r in routed.revisions} == {1, 2}
    assert stage.router.routed("echo").shadow is None
    assert [r.revision for r in stage.replicas()] == [1]


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (lambda p, s: engine.promote_canary(p, "echo"), "has no canary to promote"),
        (lambda p, s: engine.roll_back(p, "echo"), "no earlier revision"),
        (lambda p, s: engine.start_canary(p, "echo", 10, SourceSpec(), same), "has no canary"),
        (lambda p, s: engine.start_shadow(p, "echo", 10, SourceSpec(), same), "has no shadow"),
        (lambda p, s: engine.stop_shadow(p, "echo"), "has no shadow"),
        (lambda p, s: engine.pin_revision(p, "echo", 9), "has no revision 9. There are: 1"),
        (lambda p, s: engine.promote_canary(p, "nope"), "deployment not found: nope. There are: echo"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_way_out(stage: Any, action: Any, sentence: str) -> None:
    stage.create()
    stage.settle()

    with pytest.raises((IllegalTransition, NotFound), match=sentence):
        action(stage.platform, stage)


def test_a_canary_needs_a_stable_revision(stage: Any) -> None:
    stage.create()

    with pytest.raises(IllegalTransition, match="no stable revision yet"):
        engine.start_canary(stage.platform, "echo", 10, stage.source(), same)


def test_the_guard_takes_a_failing_canary_back(stage: Any) -> None:
    deployment = stage.create()
    stage.settle()
    engine.start_canary(stage.platform, "echo", 30, stage.source(), same)
    stage.settle()

    stage.router.answer(deployment.id, 1, 200)
    stage.router.answer(deployment.id, 2, 100, errors=40)
    stage.settle()

    assert stage.deployment().canary is None
    assert "40 of its 100 requests failed" in stage.revision(2).reason
    assert stage.split() == {1: 100.0}


def test_the_guard_takes_a_slow_canary_back(stage: Any) -> None:
    deployment = stage.create()
    stage.settle()
    engine.start_canary(stage.platform, "echo", 30, stage.source(), same)
    stage.settle()

    stage.router.answer(deployment.id, 1, 200, seconds=0.02)
    stage.router.answer(deployment.id, 2, 100, seconds=0.2)
    stage.settle()

    assert "its p95 is" in stage.revision(2).reason


# --------------------------------------------------------------------------------------------------------- scaling


def test_load_brings_replicas_and_quiet_takes_them_away(stage: Any) -> None:
    scaling = Scaling(min_replicas=1, max_replicas=3, target=2.0, window_s=10)
    deployment = stage.create(scaling=scaling)
    stage.settle()

    stage.router.hold(deployment.id, 1, 6)
    stage.settle(12)
    busy = len(stage.replicas())
    stage.router.hold(deployment.id, 1, 0)
    stage.settle(14)
    stage.settle(12)

    assert busy == 3
    assert len(stage.replicas()) == 1


def test_an_idle_deployment_goes_to_none_and_comes_back_for_a_request(stage: Any) -> None:
    deployment = stage.create(scaling=Scaling(min_replicas=0, idle_s=30))
    stage.settle()

    stage.world.clock.forward(60)
    stage.settle()
    asleep = stage.replicas()
    stage.router.keep_waiting(deployment.id, 1)
    stage.turn(2)
    awake = stage.replicas()

    assert asleep == []
    assert [r.state for r in awake] == ["STARTING"]


# ---------------------------------------------------------------------------------------------------------- crashes


def test_a_crashed_replica_is_restarted_under_its_task(stage: Any) -> None:
    stage.create()
    stage.settle()
    before = stage.replicas()[0]

    stage.world.runner.finish(before.allocation_id, 139)
    stage.turn(2)
    away = [r.state for r in stage.replicas()]
    routed = stage.router.routed("echo").revisions[0].replicas
    stage.settle()
    after = stage.replicas()[0]

    assert (away, routed) == (["RESTARTING"], ())
    assert after.task_id == before.task_id
    assert after.allocation_id == f"{before.task_id}.2"
    assert after.state == "READY"


def test_a_model_that_crashes_three_times_fails_with_its_last_line(stage: Any) -> None:
    stage.create()

    for _ in range(3):
        stage.turn(2)
        replica = stage.replicas()[0]
        line = LogLine(timestamp_us=1, text="KeyError: 'fc.weight'", stream=LogStream.STDERR)
        stage.platform.logs.append(replica.task_id, [line])
        stage.world.runner.finish(replica.allocation_id, 1)
        stage.turn()
        stage.world.clock.forward(5)
    stage.settle()

    assert stage.revision(1).state is RevisionState.FAILED
    assert "KeyError: 'fc.weight'" in stage.revision(1).reason
    assert stage.replicas() == []
    assert len(stage.world.runner.started) == 3


def test_a_start_that_hangs_is_given_up(stage: Any) -> None:
    stage.create(serving=Serving(startup_timeout_s=30))
    stage.turn(2)

    stage.world.clock.forward(31)
    stage.turn(5)

    assert "not ready within 30 s" in stage.revision(1).reason


def test_the_next_master_finds_everything_as_it_was(stage: Any) -> None:
    stage.create()
    stage.settle()
    table, running = stage.router.table, stage.world.runner.running()

    successor = FakeRouter(table)
    rollouts = Rollouts(stage.platform, successor)
    rollouts.pass_once()
    rollouts.close()

    assert successor.tables == [table]
    assert stage.world.runner.running() == running


def test_a_router_that_does_not_follow_is_told_again_and_then_restarted(stage: Any) -> None:
    stage.create()
    stage.settle()
    count, stage.router.is_behind = len(stage.router.tables), True

    for _ in range(22):
        stage.turn()
        stage.world.clock.forward(1)

    assert stage.router.tables[count:] == [stage.router.table]
    assert stage.router.restarts == 1


def test_the_loop_hurries_only_while_something_moves(stage: Any) -> None:
    stage.create(serving=Serving(slots=2))
    stage.create("queued", serving=Serving(slots=2))

    starting, _ = stage.rollouts.pass_once()
    stage.settle()
    waiting_for_slots, _ = stage.rollouts.pass_once()

    assert starting == BUSY_WAIT_S
    assert waiting_for_slots == IDLE_WAIT_S


# --------------------------------------------------------------------------------------------------------- leaving


def test_a_deleted_deployment_answers_no_more_and_is_gone_with_its_tasks(stage: Any) -> None:
    stage.create()
    stage.settle()

    engine.delete_deployment(stage.platform, "echo")
    stage.turn()
    during = stage.router.table.deployments
    with pytest.raises(IllegalTransition, match="is being deleted"):
        engine.promote_canary(stage.platform, "echo")
    with pytest.raises(AlreadyExists, match="is being deleted"):
        stage.create()
    stage.settle()

    assert during == ()
    with pytest.raises(NotFound):
        stage.deployment()
    assert stage.world.runner.running() == []
    with stage.platform.store.read() as tx:
        assert tx.tasks.search(types=(TaskType.REPLICA,), active_only=True) == []


def test_a_replica_that_does_not_leave_is_killed(stage: Any) -> None:
    stage.world.runner.ignores_sigterm = True
    stage.create()
    stage.settle()

    engine.delete_deployment(stage.platform, "echo")
    stage.settle()
    still = stage.world.runner.running()
    stage.world.clock.forward(30)
    stage.settle()

    assert len(still) == 1
    assert stage.world.runner.running() == []
    assert (still[0], True) in stage.world.runner.stopped


def test_a_change_made_meanwhile_is_not_overwritten(stage: Any) -> None:
    stage.create()
    stage.settle()
    snapshot = stage.rollouts._load()[0]
    engine.start_canary(stage.platform, "echo", 30, stage.source(), same)
    stale = replace(snapshot.deployment, canary=None, sticky="cookie:x")

    stage.rollouts._apply(snapshot, Changes(deployment=stale))

    assert stage.deployment().canary == 2
    assert stage.deployment().sticky == ""


def test_the_key_is_derived_and_only_its_hash_reaches_the_router(stage: Any) -> None:
    deployment, key = engine.create_deployment(
        stage.platform,
        name="echo",
        namespace="default",
        user_id=stage.world.user.id,
        workspace_id=1,
        source=stage.source(),
        serving=same,
        scaling=Scaling(),
        guard=Guard(),
        sticky="",
        public=False,
    )
    stage.turn()

    assert len(key) == 40
    assert key not in repr(stage.router.table)
    assert len(stage.router.routed(deployment.name).key_hash) == 64
