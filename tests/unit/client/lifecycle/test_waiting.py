"""Waiting for work and for revisions: how long, how often, and what happens when nobody waits any more."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resolute.client import Client
from resolute.client.lifecycle.messages import Messages
from resolute.client.lifecycle.model import Model
from resolute.client.lifecycle.plan import Goal
from resolute.client.lifecycle.rollout import Rollout, Source, table
from resolute.client.lifecycle.watching import Pace, best_of, watch_search, watch_training
from resolute.domain.errors import IllegalTransition
from resolute.lifecycle import Config, WorkloadDeploymentError

ACCURACY = Goal.of(["accuracy"], "maximize", None)


class Clock:
    """Moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds

    def pace(self, timeout_s: float = 60.0, interval_s: float = 10.0) -> Pace:
        return Pace(timeout_s=timeout_s, interval_s=interval_s, clock=self, sleep=self.sleep)


@pytest.fixture
def clock() -> Clock:
    return Clock()


class TestTraining:
    def test_it_is_looked_at_until_it_ends(self, client: Client, master: Any, clock: Clock) -> None:
        master.add_experiment(1)
        master.states[1] = ["QUEUED", "RUNNING", "RUNNING", "COMPLETED"]

        state = watch_training(client.get_experiment(1), Messages(), clock.pace(), verbose=False)

        assert state == "COMPLETED"
        assert clock.sleeps == [10.0, 10.0]

    def test_after_the_timeout_it_is_killed(self, client: Client, master: Any, clock: Clock) -> None:
        master.add_experiment(1, state="RUNNING", name="mnist-job-1")

        with pytest.raises(WorkloadDeploymentError, match=r"\(mnist-job-1\) is still RUNNING after 35 s"):
            watch_training(client.get_experiment(1), Messages(), clock.pace(35), verbose=False)

        assert clock.now == 140.0
        assert master.experiments[1]["state"] == "STATE_CANCELED"

    def test_an_interrupted_cell_leaves_nothing_running(self, client: Client, master: Any) -> None:
        master.add_experiment(1, state="RUNNING")

        def interrupt(_: float) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            watch_training(
                client.get_experiment(1), Messages(), Pace(timeout_s=9, interval_s=1, sleep=interrupt), verbose=False
            )

        assert master.experiments[1]["state"] == "STATE_CANCELED"

    def test_one_that_never_had_a_trial_has_no_log_to_show(
        self, client: Client, master: Any, clock: Clock, capsys: pytest.CaptureFixture[str]
    ) -> None:
        master.add_experiment(1, state="ERROR")

        assert watch_training(client.get_experiment(1), Messages(), clock.pace(), verbose=True) == "ERROR"
        assert "The log cannot be shown: Experiment 1 ended as ERROR without a trial." in capsys.readouterr().out

    def test_a_pause_is_told_and_kills_nothing(self, client: Client, master: Any, clock: Clock) -> None:
        master.add_experiment(1, state="PAUSED")

        with pytest.raises(IllegalTransition, match="resolute e activate 1"):
            watch_training(client.get_experiment(1), Messages(), clock.pace(), verbose=False)

        assert master.experiments[1]["state"] == "STATE_PAUSED"


class TestSearching:
    def test_the_last_line_has_the_time_it_took(
        self, client: Client, master: Any, clock: Clock, capsys: pytest.CaptureFixture[str]
    ) -> None:
        master.add_experiment(1)
        master.add_trial(1, state="COMPLETED", searcherMetricValue=0.5)
        master.add_trial(2, state="ERROR")
        master.states[1] = ["RUNNING"] * 8 + ["COMPLETED"]
        experiment = client.get_experiment(1)

        state = watch_search(experiment, Messages(), clock.pace(1000), trials=2, goal=ACCURACY)

        assert state == "COMPLETED"
        assert "|2/2 [time: 01:10, accuracy: 0.5, trials running: 0, pending: 0, failed: 1" in capsys.readouterr().out

    def test_the_best_is_the_largest_or_the_smallest_and_the_first_of_equals(self, client: Client, master: Any) -> None:
        master.add_experiment(1)
        for number, value in enumerate([0.5, 0.9, None, 0.9, 0.1], start=1):
            master.add_trial(number, searcherMetricValue=value)
        trials = client.get_experiment(1).trials()

        best, least = best_of(trials, ACCURACY), best_of(trials, Goal.of(["loss"], "minimize", None))

        assert best is not None
        assert least is not None
        assert (best.id, least.id) == (2, 5)
        assert best_of([], ACCURACY) is None


class TestRevisions:
    @pytest.fixture
    def rollout(self, client: Client, model: Model) -> Rollout:
        return Rollout(client, model._definition, Messages(), timeout_s=0.05, interval_s=0.0)

    def test_a_revision_that_is_never_ready_is_given_up(self, rollout: Rollout, master: Any) -> None:
        master.starts_as = "STATE_STARTING"

        with pytest.raises(WorkloadDeploymentError, match=r"Revision 1 of dev-mnist is not ready after 0\.05 s"):
            rollout.deploy(Source(model="dev-mnist/1"), replace=False)

    def test_one_that_never_takes_over_is_told(self, rollout: Rollout, master: Any) -> None:
        rollout.deploy(Source(model="dev-mnist/1"), replace=False)
        rollout.canary(30, Source(model="dev-mnist/2"))
        master.takes_over = False

        with pytest.raises(WorkloadDeploymentError, match="takes over later than expected"):
            rollout.promote()

    def test_one_that_never_leaves_is_told(self, rollout: Rollout, master: Any) -> None:
        rollout.deploy(Source(model="dev-mnist/1"), replace=False)
        master.leaving = 1_000_000

        with pytest.raises(WorkloadDeploymentError, match="is still being deleted"):
            rollout.undeploy()

    def test_one_that_is_leaving_is_not_deployed(self, rollout: Rollout, master: Any) -> None:
        rollout.deploy(Source(model="dev-mnist/1"), replace=False)
        master.deployments["dev-mnist"]["state"] = "STATE_DELETING"

        assert rollout.find() is None

    def test_a_canary_without_a_model_changes_its_share(self, rollout: Rollout, master: Any) -> None:
        rollout.deploy(Source(model="dev-mnist/1"), replace=False)
        rollout.canary(30, Source(model="dev-mnist/2"))

        rollout.canary(60, None)

        assert master.deployments["dev-mnist"]["canaryPercent"] == 60
        assert len(master.deployments["dev-mnist"]["revisions"]) == 2

    @pytest.mark.parametrize(
        ("state", "word"), [("READY", "True"), ("SCALED_TO_ZERO", "True"), ("DEGRADED", "False"), ("STARTING", "False")]
    )
    def test_the_table_says_whether_it_answers(self, rollout: Rollout, master: Any, state: str, word: str) -> None:
        deployment = rollout.deploy(Source(model="dev-mnist/1"), replace=False)
        deployment.data["state"] = f"STATE_{state}"

        assert table(deployment).splitlines()[1].split()[1] == word


def test_an_object_store_as_base_serves_from_a_folder_near_by(
    make: Callable[..., Model],
    client: Client,
    base_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    master: Any,
) -> None:
    monkeypatch.setenv("RESOLUTE_HOME", str(tmp_path / "home"))
    (tmp_path / "best.pt").write_bytes(b"best")
    model = make(config=Config(base_dir=base_dir, base_model_storage_uri="s3://kaptain/models", client=client))

    model.deploy(str(tmp_path / "best.pt"))

    served = Path(master.deployments["dev-mnist"]["sent"]["modelUri"])
    assert served.parent == tmp_path / "home" / "models" / "dev" / "mnist" / "deploy"
