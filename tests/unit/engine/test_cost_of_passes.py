"""What runs all the time reads little: a pass of the engine, and a report."""

from typing import Any

from resolute.domain.metric import VALIDATION, MetricReport
from resolute.engine.jobs.queue import find_job, list_jobs
from resolute.engine.loop import tick
from resolute.engine.trials.reports import report_metrics


def test_a_pass_that_finds_nothing_to_do_reads_once(world: Any, count_statements: Any) -> None:
    world.create()
    world.tick()
    world.tick()

    with count_statements() as counted:
        tick(world.platform, since=world.started_at)

    assert counted.selects == 1


def test_a_pass_knows_the_gangs_that_ran(world: Any) -> None:
    world.create()
    world.tick()

    running = tick(world.platform, since=world.started_at)
    (handle,) = running.handles
    world.runner.finish(handle)
    ended = tick(world.platform, since=world.started_at)

    assert (running.is_busy, ended.is_busy, ended.handles) == (False, True, [])


def test_a_validation_reads_its_trial_twice_however_much_it_says(world: Any, count_statements: Any) -> None:
    """Before it is judged, and after the searcher has had its say."""
    experiment = world.create()
    world.tick()
    (trial,) = world.trials(experiment.id)
    report = MetricReport(
        trial_id=trial.id,
        run_id=trial.run_id,
        group=VALIDATION,
        steps_completed=1,
        report_time=world.clock(),
        metrics={"loss": 1.0},
    )

    with count_statements() as counted:
        report_metrics(world.platform, [report])

    assert counted.of("trials") == 2


def test_one_job_is_found_as_the_queue_shows_it(world: Any) -> None:
    for _ in range(4):
        world.create()
    world.tick()

    views = list_jobs(world.platform)

    assert len(views) == 4
    assert [find_job(world.platform, view.job.id) for view in views] == views
    assert find_job(world.platform, "gone") is None
    assert find_job(world.platform, views[0].job.id, visible_in=frozenset()) is None
