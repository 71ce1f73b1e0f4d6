"""One experiment with one trial: from the queue to its end, through failures, pauses and kills."""

import io
import tarfile

import pytest

from resolute.domain.allocation import AllocationState
from resolute.domain.errors import Fenced, IllegalTransition, InvalidConfig, InvalidInput
from resolute.domain.experiment import ExperimentState
from resolute.domain.log import LogLine
from resolute.domain.metric import VALIDATION, MetricReport
from resolute.domain.trial import TrialState
from resolute.engine.experiments.changes import (
    activate_experiment,
    archive_experiment,
    cancel_experiment,
    delete_experiment,
    kill_experiment,
    kill_trial,
    pause_experiment,
)
from resolute.engine.experiments.submission import continue_experiment
from resolute.engine.ports.logs import LogQuery
from resolute.engine.trials.reports import report_metrics
from resolute.engine.trials.running import report_early_exit

CONFIG = "name: x\nentrypoint: python3 train.py\nsearcher: {name: single, metric: loss}\n"


def test_an_experiment_runs_and_completes(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)

    world.tick()
    running = world.states(trial)
    world.finish(trial)

    assert running == [AllocationState.RUNNING]
    assert world.trial(trial.id).state is TrialState.COMPLETED
    assert world.experiment(experiment.id).state is ExperimentState.COMPLETED
    assert world.experiment(experiment.id).progress == 1.0


def test_a_trial_finds_its_facts_in_its_environment(world) -> None:
    experiment = world.create()

    world.tick()

    [trial] = world.trials(experiment.id)
    env = world.runner.gang(world.allocation(trial)).env
    assert env["DET_TRIAL_ID"] == str(trial.id)
    assert env["DET_TRIAL_RUN_ID"] == "1"
    assert env["DET_USER"] == "determined"
    assert '"type": "directory"' in env["DET_EXPERIMENT_CONFIG"]


def test_a_failed_run_starts_again_from_its_latest_checkpoint(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()
    uuid = world.checkpoint(trial, 100)

    world.finish(trial, code=1)
    world.tick()

    again = world.runner.started[-1]
    assert again.env["DET_LATEST_CHECKPOINT"] == uuid
    assert again.env["DET_STEPS_COMPLETED"] == "100"
    assert again.env["DET_TRIAL_RUN_ID"] == "2"
    assert world.trial(trial.id).restarts == 1
    assert "restart 1 of at most 2" in world.log(trial)


def test_a_trial_that_fails_too_often_is_an_error_and_so_is_its_experiment(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)

    for _ in range(3):
        world.tick()
        world.finish(trial, code=7)

    assert world.trial(trial.id).state is TrialState.ERROR
    assert "exit code 7 after 2 restarts" in world.trial(trial.id).exit_reason
    assert world.experiment(experiment.id).state is ExperimentState.ERROR
    assert world.experiment(experiment.id).progress < 1.0
    assert len(world.runner.started) == 3


def test_a_damaged_checkpoint_is_passed_over_loudly(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()
    good = world.checkpoint(trial, 100)
    bad = world.checkpoint(trial, 200, content=b"x" * 10)
    (world.home / "checkpoints" / bad / "model.bin").write_bytes(b"short")

    world.finish(trial, code=1)
    world.tick()

    assert world.runner.started[-1].env["DET_LATEST_CHECKPOINT"] == good
    assert world.runner.started[-1].env["DET_STEPS_COMPLETED"] == "100"
    assert "cannot be used: file model.bin has 5 bytes, not 10" in world.log(trial)


def test_a_changed_file_is_found_by_its_digest(world) -> None:
    import hashlib

    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()
    digest = hashlib.sha256(b"weights").hexdigest()
    uuid = world.checkpoint(trial, 100, digests={"model.bin": digest})
    (world.home / "checkpoints" / uuid / "model.bin").write_bytes(b"WEIGHTS")

    world.finish(trial, code=1)
    world.tick()

    assert "DET_LATEST_CHECKPOINT" not in world.runner.started[-1].env
    assert "has changed" in world.log(trial)


def test_pausing_asks_the_trial_to_leave_and_activating_brings_it_back(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()

    pause_experiment(world.platform, experiment.id)
    world.leave(trial)
    paused = world.trial(trial.id).state
    activate_experiment(world.platform, experiment.id)
    world.tick()

    assert paused is TrialState.PAUSED
    assert world.states(trial) == [AllocationState.TERMINATED, AllocationState.RUNNING]
    assert world.trial(trial.id).restarts == 0


def test_pausing_what_is_queued_takes_it_out_of_the_queue(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)

    pause_experiment(world.platform, experiment.id)
    world.tick()

    assert world.runner.started == []
    assert world.states(trial) == [AllocationState.TERMINATED]


def test_a_script_that_never_listens_is_told_by_signal(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()

    pause_experiment(world.platform, experiment.id)
    world.clock.forward(3)
    world.tick(2)

    assert world.runner.stopped == [(world.allocation(trial), False)]
    assert world.trial(trial.id).state is TrialState.PAUSED


def test_one_that_is_too_slow_to_leave_is_killed(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()
    world.platform.listeners[world.allocation(trial)] = world.clock()

    pause_experiment(world.platform, experiment.id)
    world.tick()
    world.clock.forward(3601)
    world.tick(2)

    assert world.runner.stopped == [(world.allocation(trial), True)]
    assert world.trial(trial.id).state is TrialState.PAUSED


def test_a_paused_experiment_starts_nothing(world) -> None:
    experiment = world.create(activate=False)

    world.tick(3)

    assert world.runner.started == []
    assert world.experiment(experiment.id).state is ExperimentState.PAUSED


def test_killing_ends_it_at_once(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()

    kill_experiment(world.platform, experiment.id)
    world.tick(2)

    assert world.runner.stopped == [(world.allocation(trial), True)]
    assert world.trial(trial.id).state is TrialState.CANCELED
    assert world.experiment(experiment.id).state is ExperimentState.CANCELED


def test_cancelling_lets_it_checkpoint_first(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()

    cancel_experiment(world.platform, experiment.id)
    world.tick()
    stopping = world.experiment(experiment.id).state
    world.leave(trial)

    assert stopping is ExperimentState.STOPPING_CANCELED
    assert world.experiment(experiment.id).state is ExperimentState.CANCELED


def test_killing_the_only_trial_ends_the_experiment(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()

    kill_trial(world.platform, trial.id)
    world.tick(2)

    assert world.trial(trial.id).state is TrialState.CANCELED
    assert world.experiment(experiment.id).is_finished


def test_a_report_of_an_older_run_is_refused_and_nothing_is_written(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()
    world.finish(trial, code=1)
    world.tick()
    zombie = MetricReport(
        trial_id=trial.id,
        run_id=1,
        group=VALIDATION,
        steps_completed=5,
        report_time=world.clock(),
        metrics={"loss": 1.0},
    )

    with pytest.raises(Fenced, match="is in run 2; this report is from run 1"):
        report_metrics(world.platform, [zombie])

    with world.platform.store.read() as tx:
        assert tx.metrics.summaries(trial.id) == []


def test_a_metric_the_searcher_wants_but_nobody_reports_is_named_in_the_log_with_what_was_reported(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()
    world.validate(trial, 10, accuracy=0.5, f1=0.4)

    world.finish(trial)

    assert world.trial(trial.id).state is TrialState.COMPLETED
    log = " ".join(line.text for line in world.platform.logs.read(trial.task_id, LogQuery()))
    assert "loss was never reported" in log
    assert "accuracy, f1" in log


def test_the_best_value_of_the_searchers_metric_is_kept(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()

    for steps, loss in ((1, 0.9), (2, 0.3), (3, 0.5), (4, float("nan"))):
        world.validate(trial, steps, loss=loss)

    assert world.trial(trial.id).searcher_metric_value == 0.3
    assert world.trial(trial.id).total_batches == 4


def test_a_trial_that_says_its_hyperparameters_are_invalid_is_not_retried(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()

    report_early_exit(world.platform, trial.id, "EXITED_REASON_INVALID_HP")
    world.finish(trial)
    world.tick()

    assert world.trial(trial.id).state is TrialState.ERROR
    assert len(world.runner.started) == 1


def test_a_log_policy_cancels_retries(world) -> None:
    config = """
        name: p
        entrypoint: python3 train.py
        searcher: {name: single, metric: loss}
        log_policies: [{name: oom, pattern: ".*out of memory.*", action: cancel_retries}]
        """
    experiment = world.create(config)
    [trial] = world.trials(experiment.id)
    world.tick()

    line = LogLine(int(world.clock().timestamp() * 1e6), "CUDA out of memory at step 7")
    world.platform.logs.append(trial.task_id, [line])
    world.finish(trial, code=1)

    assert world.trial(trial.id).state is TrialState.ERROR
    assert "log policy 'oom' matched" in world.trial(trial.id).exit_reason


def test_only_finished_experiments_are_archived_or_deleted(world) -> None:
    experiment = world.create()

    with pytest.raises(IllegalTransition, match="only a finished one can be archived"):
        archive_experiment(world.platform, experiment.id)
    with pytest.raises(IllegalTransition, match="kill it before deleting"):
        delete_experiment(world.platform, experiment.id)


def test_deleting_removes_rows_files_and_logs(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()
    uuid = world.checkpoint(trial, 1)
    world.finish(trial)

    delete_experiment(world.platform, experiment.id)

    assert not (world.home / "checkpoints" / uuid).exists()
    assert world.platform.logs.size(trial.task_id) == 0
    from resolute.domain.errors import NotFound

    with pytest.raises(NotFound):
        world.experiment(experiment.id)


def test_a_finished_single_trial_is_continued_from_its_checkpoint(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()
    uuid = world.checkpoint(trial, 50)
    world.finish(trial)

    continue_experiment(world.platform, experiment.id, "max_restarts: 1")
    world.tick()
    again = world.runner.started[-1].env
    world.finish(trial)

    assert again["DET_LATEST_CHECKPOINT"] == uuid
    assert world.experiment(experiment.id).state is ExperimentState.COMPLETED
    assert world.experiment(experiment.id).config["max_restarts"] == 1


def test_a_configuration_without_an_entrypoint_is_refused(world) -> None:
    with pytest.raises(InvalidConfig, match="entrypoint: is missing"):
        world.create("name: x\nsearcher: {name: single, metric: loss}")


def test_requirements_are_read_from_the_file_in_the_context(world) -> None:
    config = CONFIG + "environment: {requirements: requirements.txt}\n"
    context = archive({"requirements.txt": "# ours\nnumpy==2.0  # pinned\n\nrich\n"})

    world.create(config, context=context)
    world.tick()

    assert world.runner.started[0].environment.requirements == ("numpy==2.0", "rich")


def test_a_requirements_file_that_is_not_there_is_refused(world) -> None:
    with pytest.raises(InvalidInput, match=r"there is no file 'reqs.txt' in the uploaded folder"):
        world.create(CONFIG + "environment: {requirements: reqs.txt}\n", context=archive({"a.py": ""}))


def archive(files: dict[str, str]) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return target.getvalue()


def test_a_fork_without_files_has_its_parents(world) -> None:
    parent = world.create(CONFIG, context=archive({"train.py": "print(1)"}))

    fork = world.create(CONFIG, parent_id=parent.id)

    assert fork.context_id == parent.context_id
    assert fork.parent_id == parent.id
