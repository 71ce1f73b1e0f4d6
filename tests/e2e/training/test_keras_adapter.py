"""Keras: the callback with model.fit, and the class form under the Trainer."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resolute import keras as resolute_keras  # Before keras: it picks the torch backend.

# isort: split
import keras

from resolute.client.task.fake import FakeTaskMaster
from resolute.domain.errors import InvalidInput
from resolute.pytorch import Batch, Trainer, init
from resolute.training import core

pytestmark = pytest.mark.filterwarnings("ignore")  # Keras and its backend warn about one another.


def build_model(width: int = 4) -> Any:
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(width, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"])
    return model


def data(rows: int = 24) -> tuple[np.ndarray, np.ndarray]:
    x = np.linspace(-1, 1, rows * 3, dtype=np.float32).reshape(rows, 3)
    return x, x.sum(axis=1, keepdims=True)


class LineTrial(resolute_keras.Trial):
    def build_model(self) -> Any:
        return build_model()

    def build_training_data_loader(self) -> Any:
        return data()

    def build_validation_data_loader(self) -> Any:
        return data(6)


def fit(run: core.Run, *, epochs: int) -> Any:
    model = build_model()
    callback = resolute_keras.Callback(run, report_every=2)
    model.fit(
        *data(),
        batch_size=6,
        epochs=epochs,
        validation_data=data(6),
        callbacks=[callback],
        initial_epoch=callback.restore(model),
        verbose=0,
        shuffle=False,
    )
    return model


def test_fit_reports_and_saves(on_cluster: FakeTaskMaster) -> None:
    with core.init() as run:
        fit(run, epochs=2)

    assert [report["stepsCompleted"] for report in on_cluster.reports("training")] == [2, 4, 6, 8]
    validation = on_cluster.reports("validation")
    assert [report["stepsCompleted"] for report in validation] == [4, 8]
    assert sorted(validation[0]["metrics"]["avgMetrics"]) == ["val_loss", "val_mae"]
    assert {item["metadata"]["framework"] for item in on_cluster.checkpoints.values()} == {"keras"}


def test_a_resumed_fit_ends_with_the_same_weights(
    on_cluster: FakeTaskMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with core.init() as run:
        whole = fit(run, epochs=4)
    on_cluster.checkpoints.clear()

    with core.init() as run:
        fit(run, epochs=2)
    monkeypatch.setenv("DET_LATEST_CHECKPOINT", list(on_cluster.checkpoints)[-1])
    with core.init() as run:
        resumed = fit(run, epochs=4)

    for ours, theirs in zip(resumed.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_stop_request_ends_fit_with_a_checkpoint(on_cluster: FakeTaskMaster) -> None:
    with core.init() as run:
        run._watcher.request("test")
        fit(run, epochs=50)

    (saved,) = on_cluster.checkpoints.values()
    assert saved["metadata"]["steps_completed"] == 1
    assert saved["metadata"]["epochs"] == 0


def test_the_class_form_trains_with_keras_names_and_leaves_a_loadable_model(
    on_cluster: FakeTaskMaster, tmp_path: Path
) -> None:
    with init(hparams={"global_batch_size": 6}) as context:
        trial = LineTrial(context)
        Trainer(trial, context).fit(max_length=Batch(8), reporting_period=Batch(4), validation_period=Batch(4))

    (last,) = [u for u, item in on_cluster.checkpoints.items() if item["metadata"]["steps_completed"] == 8]
    loaded = resolute_keras.load_model(tmp_path / "storage" / last)
    x, _ = data(6)
    np.testing.assert_allclose(loaded.predict(x, verbose=0), trial.model.predict(x, verbose=0), rtol=1e-6)
    assert sorted(on_cluster.reports("validation")[0]["metrics"]["avgMetrics"]) == ["val_loss", "val_mae"]


def test_the_class_form_resumes_bit_for_bit(on_cluster: FakeTaskMaster, monkeypatch: pytest.MonkeyPatch) -> None:
    def train(until: int) -> Any:
        with init(hparams={"global_batch_size": 5}) as context:
            trial = LineTrial(context)
            Trainer(trial, context).fit(max_length=Batch(until))
        return trial.model.get_weights()

    whole = train(14)
    on_cluster.checkpoints.clear()
    train(7)
    monkeypatch.setenv("DET_LATEST_CHECKPOINT", list(on_cluster.checkpoints)[-1])
    resumed = train(14)

    for ours, theirs in zip(resumed, whole, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_model_that_is_not_compiled_is_refused(on_cluster: FakeTaskMaster) -> None:
    class Raw(LineTrial):
        def build_model(self) -> Any:
            return keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])

    with pytest.raises(InvalidInput, match="not compiled"), init(hparams={"global_batch_size": 6}) as context:
        Raw(context)
