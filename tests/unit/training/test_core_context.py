"""The core context against a master in a thread, and off-cluster."""

import contextlib
import json
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from resolute.client.task.fake import FakeTaskMaster
from resolute.domain.errors import InvalidInput
from resolute.training.core import InvalidHparams, init


def eventually(condition: Callable[[], bool], timeout_s: float = 10.0) -> bool:
    """Wait for another thread's doing; returns as soon as it is done."""
    deadline = time.monotonic() + timeout_s
    tick = threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            return False
        tick.wait(0.005)
    return True


def test_reports_arrive_in_order_with_group_steps_and_run(on_cluster: FakeTaskMaster) -> None:
    with init() as run:
        for step in range(1, 51):
            run.report("training", step, {"loss": 1.0 / step})

    reports = on_cluster.reports("training")
    assert [report["stepsCompleted"] for report in reports] == list(range(1, 51))
    assert reports[0]["trialRunId"] == 1
    assert reports[1]["metrics"] == {"avgMetrics": {"loss": 0.5}}


def test_many_reports_travel_in_few_requests(on_cluster: FakeTaskMaster) -> None:
    with init() as run:
        for step in range(2_000):
            run.report("training", step, {"loss": 0.0})

    batches = [path for path in on_cluster.paths() if path.endswith("/metrics/batch")]
    assert len(on_cluster.reports()) == 2_000
    assert len(batches) < 20


def test_nothing_is_lost_and_nothing_raised_while_the_master_is_away(
    on_cluster: FakeTaskMaster, caplog: pytest.LogCaptureFixture
) -> None:
    on_cluster.status = 503

    with init() as run:
        with caplog.at_level(logging.WARNING, logger="resolute"):
            run.report("training", 1, {"loss": 1.0})
            assert eventually(lambda: "Training goes on" in caplog.text)
            run.report("training", 2, {"loss": 0.5})
        on_cluster.status = 200

    assert [report["stepsCompleted"] for report in on_cluster.reports()] == [1, 2]


def test_a_replaced_run_is_told_to_stop(on_cluster: FakeTaskMaster) -> None:
    with init() as run:
        on_cluster.status = 409
        run.report("training", 1, {"loss": 1.0})

        assert eventually(run.should_stop)
        assert "replaced" in run.stop_reason


def test_the_masters_stop_request_is_seen_and_acknowledged_once(on_cluster: FakeTaskMaster) -> None:
    with init() as run:
        assert not run.should_stop()
        on_cluster.ask_to_stop()

        assert eventually(run.should_stop)
        assert run.should_stop()

    assert sum(path.endswith("/signals/ack_preemption") for path in on_cluster.paths()) == 1


def test_sigterm_means_should_stop_and_not_the_end(on_cluster: FakeTaskMaster) -> None:
    before = signal.getsignal(signal.SIGTERM)

    with init() as run:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert run.should_stop()
        assert run.stop_reason == "SIGTERM"

    assert signal.getsignal(signal.SIGTERM) is before


def test_a_saved_state_comes_back_in_the_next_run(on_cluster: FakeTaskMaster, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = torch.arange(6.0).reshape(2, 3)
    with init() as run:
        assert run.checkpoint.restore() is None
        uuid = run.checkpoint.save({"weights": weights, "epoch": 3}, steps=40, metadata={"note": "good"})
        weights.zero_()

    monkeypatch.setenv("DET_LATEST_CHECKPOINT", uuid)
    with init() as run:
        restored = run.checkpoint.restore()
        assert restored is not None
        state = restored.load()

    assert (restored.uuid, restored.steps) == (uuid, 40)
    assert restored.metadata == {"note": "good", "steps_completed": 40}
    assert torch.equal(state["weights"], torch.arange(6.0).reshape(2, 3))
    assert state["epoch"] == 3


def test_metrics_are_acknowledged_before_the_checkpoint_of_their_step(on_cluster: FakeTaskMaster) -> None:
    with init() as run:
        run.report("validation", 10, {"accuracy": 0.9})
        run.checkpoint.save({"step": 10}, steps=10)

    paths = on_cluster.paths()
    assert paths.index("/api/v1/trials/7/metrics/batch") < paths.index("/api/v1/checkpoints")


def test_a_checkpoint_is_reported_with_sizes_and_digests(on_cluster: FakeTaskMaster, tmp_path: Path) -> None:
    with init() as run, run.checkpoint.store(steps=5) as (folder, uuid):
        (folder / "model").mkdir()
        (folder / "model" / "weights.bin").write_bytes(b"12345")

    reported = on_cluster.checkpoints[uuid]
    assert reported["resources"]["model/weights.bin"] == "5"
    assert len(reported["digests"]["model/weights.bin"]) == 64
    assert reported["metadata"]["steps_completed"] == 5
    assert reported["allocationId"] == "3.abc.1"


def test_a_failed_block_stores_no_checkpoint(on_cluster: FakeTaskMaster) -> None:
    with init() as run, pytest.raises(ZeroDivisionError), run.checkpoint.store(steps=5):
        raise ZeroDivisionError

    assert on_cluster.checkpoints == {}


@pytest.mark.parametrize("damage", ["cut", "flip", "remove"])
def test_a_damaged_checkpoint_is_skipped_loudly_for_the_one_before(
    on_cluster: FakeTaskMaster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    damage: str,
) -> None:
    with init() as run:
        good = run.checkpoint.save({"step": 10}, steps=10)
        bad = run.checkpoint.save({"step": 20}, steps=20)
    file = next((tmp_path / "storage").rglob(f"{bad}/state.pt"))
    content = file.read_bytes()
    if damage == "remove":
        file.unlink()
    else:
        file.write_bytes(content[:-1] if damage == "cut" else content[:-1] + bytes([content[-1] ^ 1]))

    monkeypatch.setenv("DET_LATEST_CHECKPOINT", bad)
    with caplog.at_level(logging.ERROR, logger="resolute"), init() as run:
        restored = run.checkpoint.restore()

    assert restored is not None
    assert restored.uuid == good
    assert f"Checkpoint {bad} is damaged" in caplog.text


def test_invalid_hyperparameters_tell_the_searcher_and_exit_cleanly(on_cluster: FakeTaskMaster) -> None:
    with init() as run:
        run.invalid_hparams("lr 10 diverges")

    exits = [body for _, path, body in on_cluster.calls if path.endswith("/early_exit")]
    assert exits == [{"reason": "EXITED_REASON_INVALID_HP"}]


@pytest.mark.parametrize("reported", [{"mAP": 0.5, "latency": 3.0}, {"mAP": 0.5}])
def test_each_of_several_searcher_metrics_must_be_reported(
    on_cluster: FakeTaskMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reported: dict[str, float]
) -> None:
    config = {"searcher": {"name": "random", "metric": ["mAP", "latency"]}}
    monkeypatch.setenv("DET_EXPERIMENT_CONFIG", on_cluster.env(tmp_path, config=config)["DET_EXPERIMENT_CONFIG"])
    is_whole = len(reported) == 2
    ends = contextlib.nullcontext() if is_whole else pytest.raises(InvalidInput, match="'latency' was never")

    with ends, init() as run:
        run.report("validation", 1, reported)


def test_a_searcher_metric_that_was_never_reported_fails_with_the_names_that_were(
    on_cluster: FakeTaskMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"searcher": {"name": "single", "metric": "mAP"}}
    monkeypatch.setenv("DET_EXPERIMENT_CONFIG", on_cluster.env(tmp_path, config=config)["DET_EXPERIMENT_CONFIG"])

    with pytest.raises(InvalidInput, match=r"'mAP' was never reported.*accuracy, loss"), init() as run:
        run.report("validation", 1, {"loss": 1.0, "accuracy": 0.5})


def test_progress_is_sent_and_checked(on_cluster: FakeTaskMaster) -> None:
    with init() as run:
        run.progress(0.25)
        with pytest.raises(InvalidInput, match="from 0 to 1"):
            run.progress(25)

    sent = [body for _, path, body in on_cluster.calls if path.endswith("/progress")]
    assert sent == [{"progress": 0.25, "is_raw": True}]


def test_the_experiments_hyperparameters_win_over_defaults(
    on_cluster: FakeTaskMaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DET_HPARAMS", json.dumps({"lr": 0.1}))

    with init(hparams={"lr": 1.0, "depth": 2}) as run:
        assert run.hparams == {"lr": 0.1, "depth": 2}
        assert (run.seed, run.slots, run.trial_id) == (11, 1, 7)


def test_other_ranks_report_nothing(on_cluster: FakeTaskMaster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")

    with init() as run:
        run.report("training", 1, {"loss": 1.0})
        run.checkpoint.save({"a": 1}, steps=1)

    assert on_cluster.calls == []


def test_off_cluster_the_same_script_prints_and_saves_locally(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with init(hparams={"lr": 0.5}, folder=tmp_path / "run") as run:
        assert not run.should_stop()
        assert run.hparams["lr"] == 0.5
        run.report("training", 3, {"loss": 0.25})
        run.checkpoint.save({"w": torch.ones(2)}, steps=3)

    with init(resume=tmp_path / "run") as run:
        restored = run.checkpoint.restore()
        assert restored is not None
        assert torch.equal(restored.load()["w"], torch.ones(2))
        assert restored.steps == 3

    assert "training steps=3 loss=0.25" in capsys.readouterr().out
    assert json.loads((tmp_path / "run" / "metrics.jsonl").read_text())["metrics"] == {"loss": 0.25}


def test_resuming_from_a_folder_without_checkpoints_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no checkpoints"):
        init(resume=tmp_path / "nothing")


def test_two_ranks_write_one_checkpoint(on_cluster: FakeTaskMaster, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    for rank in range(2):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "2")
        runs.append(init())

    uuids = [run.checkpoint.save({"rank": run.rank}, steps=8, shard=True) for run in runs]
    for run in reversed(runs):
        run.close()

    assert uuids[0] == uuids[1]
    files = on_cluster.checkpoints[uuids[0]]["resources"]
    assert sorted(files) == ["metadata.json", "state-rank0.pt", "state-rank1.pt"]


def test_the_error_of_the_script_is_the_one_that_is_shown(on_cluster: FakeTaskMaster) -> None:
    def script() -> None:
        with init() as run:
            run.report("training", 1, {"loss": 1.0})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        script()

    assert len(on_cluster.reports()) == 1


def test_invalid_hparams_can_be_raised_by_hand(on_cluster: FakeTaskMaster) -> None:
    with init():
        raise InvalidHparams("no")

    assert any(path.endswith("/early_exit") for path in on_cluster.paths())
