"""The Trainer, in one process, against a master in a thread."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from resolute.client.task.fake import FakeTaskMaster
from resolute.domain.errors import InvalidInput
from resolute.pytorch import Batch, Callback, DataLoader, Epoch, Reducer, Trainer, Trial, TrialContext, init


def _load_tiny_trials() -> ModuleType:
    path = Path(__file__).with_name("tiny_trials.py")
    spec = importlib.util.spec_from_file_location("tiny_trials", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tiny_trials"] = module
    spec.loader.exec_module(module)
    return module


tiny = _load_tiny_trials()
HPARAMS = {"global_batch_size": 5}


def train(trial_class: type[Trial] | None = None, *, hparams: dict[str, Any] | None = None, **fit: Any) -> TrialContext:
    with init(hparams=hparams or HPARAMS) as context:
        Trainer((trial_class or tiny.PointsTrial)(context), context).fit(**fit)
    return context


def configure(monkeypatch: pytest.MonkeyPatch, master: FakeTaskMaster, storage: Path, **config: Any) -> None:
    monkeypatch.setenv("DET_EXPERIMENT_CONFIG", master.env(storage, config=config)["DET_EXPERIMENT_CONFIG"])


def losses(master: FakeTaskMaster, group: str = "training") -> list[tuple[int, Any]]:
    return [(report["stepsCompleted"], report["metrics"]["avgMetrics"]) for report in master.reports(group)]


def test_periods_say_when_it_reports_validates_and_saves(on_cluster: FakeTaskMaster) -> None:
    train(
        max_length=Batch(20),
        reporting_period=Batch(5),
        validation_period=Batch(10),
        checkpoint_period=Batch(8),
        checkpoint_policy="none",
    )

    assert [steps for steps, _ in losses(on_cluster)] == [5, 10, 15, 20]
    assert [steps for steps, _ in losses(on_cluster, "validation")] == [10, 20]
    saved = sorted(item["metadata"]["steps_completed"] for item in on_cluster.checkpoints.values())
    assert saved == [8, 16, 20]


def test_the_experiments_yaml_gives_the_periods(
    on_cluster: FakeTaskMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(
        monkeypatch,
        on_cluster,
        tmp_path / "storage",
        searcher={"name": "single", "metric": "validation_loss", "max_length": {"epochs": 2}},
        scheduling_unit=4,
        min_validation_period={"epochs": 1},
        perform_initial_validation=True,
        checkpoint_policy="all",
    )

    train()

    assert [steps for steps, _ in losses(on_cluster)] == [4, 8, 12, 16]
    assert [steps for steps, _ in losses(on_cluster, "validation")] == [0, 8, 16]


def test_training_learns(on_cluster: FakeTaskMaster) -> None:
    train(max_length=Epoch(20), reporting_period=Batch(8))

    values = [metrics["loss"] for _, metrics in losses(on_cluster)]
    assert values[-1] < values[0] / 3


@pytest.mark.parametrize(("stop_at", "workers"), [(3, 0), (8, 0), (11, 0), (16, 0), (11, 1)])
def test_a_resumed_curve_is_the_uninterrupted_one_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int, workers: int
) -> None:
    class Stopping(tiny.PointsTrial):  # type: ignore[name-defined, misc]
        until: int | None = None

        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> Any:
            if self.until is not None and batch_idx + 1 == self.until:
                self.context.set_stop_requested(True)
            return super().train_batch(batch, epoch_idx, batch_idx)

    Stopping.workers = workers

    def curve(name: str, stops: list[int | None]) -> tuple[list[Any], Any]:
        with FakeTaskMaster() as master:
            for key, value in master.env(tmp_path / name).items():
                monkeypatch.setenv(key, value)
            monkeypatch.delenv("DET_LATEST_CHECKPOINT", raising=False)
            for stop in stops:
                Stopping.until = stop
                context = train(Stopping, max_length=Batch(24), reporting_period=Batch(2), checkpoint_policy="none")
                monkeypatch.setenv("DET_LATEST_CHECKPOINT", list(master.checkpoints)[-1])
            points = dict(losses(master))
            return sorted(points.items()), context.raw_models[0].state_dict()

    whole, weights = curve("whole", [None])
    broken, resumed_weights = curve("broken", [stop_at, None])

    assert broken == whole
    assert all(torch.equal(weights[key], resumed_weights[key]) for key in weights)


def test_a_checkpoint_of_another_model_is_refused_with_the_keys_that_differ(
    on_cluster: FakeTaskMaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(max_length=Batch(2))
    monkeypatch.setenv("DET_LATEST_CHECKPOINT", next(iter(on_cluster.checkpoints)))

    class Wider(tiny.PointsTrial):  # type: ignore[name-defined, misc]
        width = 9

    with pytest.raises(InvalidInput, match=r"another model.*other shape: 0.weight \(\(8, 3\) saved, \(9, 3\) here\)"):
        train(Wider, max_length=Batch(4))


def test_an_empty_data_loader_is_refused(on_cluster: FakeTaskMaster) -> None:
    class Empty(tiny.PointsTrial):  # type: ignore[name-defined, misc]
        length = 0

    with pytest.raises(InvalidInput, match="training data loader has length zero"):
        train(Empty, max_length=Batch(4))


def test_a_global_batch_smaller_than_the_slots_is_refused(
    on_cluster: FakeTaskMaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from resolute.training import core
    from resolute.training.environment import Place

    with core.init(hparams={"global_batch_size": 2}) as run:
        context = TrialContext(run)
        context.distributed = Place(rank=0, size=4)

        with pytest.raises(InvalidInput, match="global_batch_size 2 is smaller than the 4 slots"):
            context.get_per_slot_batch_size()


def test_a_searcher_metric_that_validation_lacks_is_refused_at_the_first_validation(
    on_cluster: FakeTaskMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, on_cluster, tmp_path, searcher={"name": "single", "metric": "mAP"})

    with pytest.raises(InvalidInput, match=r"'mAP' is not among the validation metrics: validation_loss"):
        train(max_length=Batch(4), validation_period=Batch(2))


def test_no_length_anywhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="Nothing says how long"), init(hparams=HPARAMS, folder=tmp_path) as context:
        Trainer(tiny.PointsTrial(context), context).fit()


def test_a_missing_hyperparameter_is_named(on_cluster: FakeTaskMaster) -> None:
    with pytest.raises(InvalidInput, match="no hyperparameter 'global_batch_size'; the experiment has: lr"):
        train(hparams={"lr": 1}, max_length=Batch(1))


def test_callbacks_run_and_their_state_comes_back(on_cluster: FakeTaskMaster, monkeypatch: pytest.MonkeyPatch) -> None:
    class Counting(Callback):
        def __init__(self) -> None:
            self.epochs: list[int] = []
            self.validations = 0

        def on_training_epoch_end(self, epoch_idx: int) -> None:
            self.epochs.append(epoch_idx)

        def on_validation_end(self, metrics: dict[str, Any]) -> None:
            self.validations += 1

        def state_dict(self) -> dict[str, Any]:
            return {"epochs": self.epochs, "validations": self.validations}

        def load_state_dict(self, state: dict[str, Any]) -> None:
            self.epochs, self.validations = state["epochs"], state["validations"]

    counting: list[Counting] = []

    class Counted(tiny.PointsTrial):  # type: ignore[name-defined, misc]
        def build_callbacks(self) -> dict[str, Callback]:
            counting.append(Counting())
            return {"counting": counting[-1]}

    train(Counted, max_length=Epoch(1), validation_period=Epoch(1))
    monkeypatch.setenv("DET_LATEST_CHECKPOINT", list(on_cluster.checkpoints)[-1])
    train(Counted, max_length=Epoch(3), validation_period=Epoch(1))

    assert counting[-1].epochs == [0, 1, 2]
    assert counting[-1].validations == 3


def test_evaluation_is_the_mean_over_samples_not_over_batches(on_cluster: FakeTaskMaster) -> None:
    class Ones(tiny.PointsTrial):  # type: ignore[name-defined, misc]
        def build_validation_data_loader(self) -> Any:
            return DataLoader(torch.utils.data.TensorDataset(torch.tensor([1.0, 1.0, 1.0, 5.0])), 3)

        def evaluate_batch(self, batch: Any, batch_idx: int) -> dict[str, Any]:
            (x,) = batch
            return {"mean": x.mean(), "largest": x.max(), "count": len(x)}

        def evaluation_reducer(self) -> dict[str, Reducer]:
            return {"largest": Reducer.MAX, "count": Reducer.SUM}

    train(Ones, max_length=Batch(1))

    assert losses(on_cluster, "validation") == [(1, {"mean": 2.0, "largest": 5.0, "count": 4.0})]


def test_reducers_see_every_sample(on_cluster: FakeTaskMaster) -> None:
    class Reduced(tiny.PointsTrial):  # type: ignore[name-defined, misc]
        def __init__(self, context: TrialContext) -> None:
            super().__init__(context)
            self.seen = context.wrap_reducer(lambda values: sum(values), "seen", for_training=False)

        def evaluate_batch(self, batch: Any, batch_idx: int) -> dict[str, Any]:
            self.seen.update(len(batch[0]))
            return {}

    train(Reduced, max_length=Batch(1))

    assert losses(on_cluster, "validation") == [(1, {"seen": 11})]


def test_gradients_of_two_batches_make_one_step(on_cluster: FakeTaskMaster) -> None:
    class Aggregating(tiny.PointsTrial):  # type: ignore[name-defined, misc]
        def __init__(self, context: TrialContext) -> None:
            super().__init__(context)
            context.aggregation = 2
            self.versions: list[int] = []

        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> Any:
            result = super().train_batch(batch, epoch_idx, batch_idx)
            state = next(iter(self.optimizer.state.values()), {"step": torch.tensor(0)})
            self.versions.append(int(state["step"]))
            return result

    with init(hparams=HPARAMS) as context:
        trial = Aggregating(context)
        Trainer(trial, context).fit(max_length=Batch(6))

    assert trial.versions == [0, 1, 1, 2, 2, 3]


def test_bf16_trains(on_cluster: FakeTaskMaster) -> None:
    with init(hparams=HPARAMS, precision="bf16") as context:
        Trainer(tiny.PointsTrial(context), context).fit(max_length=Batch(4), reporting_period=Batch(2))

    assert len(losses(on_cluster)) == 2


def test_an_unknown_precision_is_refused(on_cluster: FakeTaskMaster) -> None:
    with pytest.raises(InvalidInput, match="use one of fp32, bf16, fp16"), init(hparams=HPARAMS, precision="int4"):
        pass


def test_a_stop_request_saves_and_returns(on_cluster: FakeTaskMaster) -> None:
    class Asked(tiny.PointsTrial):  # type: ignore[name-defined, misc]
        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> Any:
            if batch_idx == 6:
                on_cluster.ask_to_stop()
            if batch_idx > 6:
                self.context.run._watcher._thread.join(5)
            return super().train_batch(batch, epoch_idx, batch_idx)

    context = train(Asked, max_length=Batch(1000))

    saved = [item["metadata"]["steps_completed"] for item in on_cluster.checkpoints.values()]
    assert saved == [context.steps]
    assert context.steps < 20


def test_profiling_adds_pace(on_cluster: FakeTaskMaster) -> None:
    train(max_length=Batch(4), reporting_period=Batch(2), profiling_enabled=True)

    pace = losses(on_cluster, "throughput")
    assert [steps for steps, _ in pace] == [2, 4]
    assert pace[0][1]["samples_per_second"] > 0
    assert 0 <= pace[0][1]["data_wait_share"] <= 1


def test_off_cluster_it_trains_just_the_same(tmp_path: Path) -> None:
    with init(hparams=HPARAMS, folder=tmp_path) as context:
        Trainer(tiny.PointsTrial(context), context).fit(max_length=Epoch(1), reporting_period=Batch(4))

    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["steps"] for line in lines if line["group"] == "training"] == [4, 8]
