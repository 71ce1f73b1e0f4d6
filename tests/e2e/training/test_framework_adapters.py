"""Lightning, Hugging Face and Accelerate: each reports, saves, stops and resumes through its own loop."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from resolute.client.task.fake import FakeTaskMaster
from resolute.training import core

pytestmark = pytest.mark.filterwarnings("ignore")  # The frameworks warn about their own settings.


def tensors(rows: int = 16) -> TensorDataset:
    x = torch.linspace(-1, 1, rows * 2).reshape(rows, 2)
    return TensorDataset(x, x.sum(dim=1, keepdim=True))


# ---------------------------------------------------------------------------------------------------- lightning


def lightning_fit(run: core.Run, folder: Path, epochs: int) -> Any:
    import lightning

    from resolute.lightning import Callback

    class Line(lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.layer = nn.Linear(2, 1)

        def training_step(self, batch: Any, index: int) -> torch.Tensor:
            loss = nn.functional.mse_loss(self.layer(batch[0]), batch[1])
            self.log("loss", loss)
            return loss

        def validation_step(self, batch: Any, index: int) -> None:
            self.log("val_loss", nn.functional.mse_loss(self.layer(batch[0]), batch[1]))

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), lr=0.1)

    callback = Callback(run, report_every=2)
    trainer = lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        default_root_dir=folder,
        callbacks=[callback],
        log_every_n_steps=1,
        num_sanity_val_steps=0,
    )
    model = Line()
    loader = DataLoader(tensors(), batch_size=4)
    trainer.fit(
        model, loader, DataLoader(tensors(8), batch_size=4), ckpt_path=callback.resume_path(), weights_only=False
    )
    return model


def test_lightning_reports_saves_and_resumes(
    on_cluster: FakeTaskMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with core.init() as run:
        whole = lightning_fit(run, tmp_path, 3)
    assert [report["stepsCompleted"] for report in on_cluster.reports("validation")] == [4, 8, 12]
    assert [report["stepsCompleted"] for report in on_cluster.reports("training")] == [2, 4, 6, 8, 10, 12]
    first = next(u for u, item in on_cluster.checkpoints.items() if item["metadata"]["steps_completed"] == 4)

    monkeypatch.setenv("DET_LATEST_CHECKPOINT", first)
    with core.init() as run:
        resumed = lightning_fit(run, tmp_path, 3)

    assert torch.equal(whole.layer.weight, resumed.layer.weight)


def test_lightning_leaves_when_asked(on_cluster: FakeTaskMaster, tmp_path: Path) -> None:
    with core.init() as run:
        run._watcher.request("test")
        lightning_fit(run, tmp_path, 50)

    assert max(item["metadata"]["steps_completed"] for item in on_cluster.checkpoints.values()) <= 4


# -------------------------------------------------------------------------------------------------- hugging face


class Regressor(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(2, 1)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        y = self.layer(x)
        return {"loss": nn.functional.mse_loss(y, labels), "logits": y}


def huggingface_fit(run: core.Run, folder: Path, steps: int) -> Any:
    from transformers import Trainer, TrainingArguments

    from resolute.huggingface import Callback

    rows = [{"x": x, "labels": y} for x, y in tensors()]
    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=steps,
        per_device_train_batch_size=4,
        logging_steps=2,
        save_steps=4,
        eval_strategy="steps",
        eval_steps=4,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        save_strategy="steps",
    )
    callback = Callback(run)
    model = Regressor()
    trainer = Trainer(model=model, args=arguments, train_dataset=rows, eval_dataset=rows, callbacks=[callback])
    trainer.train(resume_from_checkpoint=callback.resume_path(arguments))
    return model


def test_hugging_face_reports_saves_and_resumes(
    on_cluster: FakeTaskMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with core.init() as run:
        whole = huggingface_fit(run, tmp_path / "one", 8)
    assert [report["stepsCompleted"] for report in on_cluster.reports("validation")] == [4, 8]
    assert "eval_loss" in on_cluster.reports("validation")[0]["metrics"]["avgMetrics"]
    first = next(u for u, item in on_cluster.checkpoints.items() if item["metadata"]["steps_completed"] == 4)

    monkeypatch.setenv("DET_LATEST_CHECKPOINT", first)
    with core.init() as run:
        resumed = huggingface_fit(run, tmp_path / "two", 8)

    assert torch.equal(whole.layer.weight, resumed.layer.weight)


def test_hugging_face_saves_and_leaves_when_asked(on_cluster: FakeTaskMaster, tmp_path: Path) -> None:
    with core.init() as run:
        run._watcher.request("test")
        huggingface_fit(run, tmp_path, 100)

    assert [item["metadata"]["steps_completed"] for item in on_cluster.checkpoints.values()] == [1]


# ---------------------------------------------------------------------------------------------------- accelerate


def test_accelerate_reports_saves_and_restores(on_cluster: FakeTaskMaster, monkeypatch: pytest.MonkeyPatch) -> None:
    from accelerate import Accelerator

    from resolute.accelerate import Tracker, restore, save

    def train(run: core.Run, until: int) -> Any:
        accelerator = Accelerator(cpu=True, log_with=[Tracker(run)])
        accelerator.init_trackers("points")
        torch.manual_seed(0)
        model = nn.Linear(2, 1)
        model, optimizer = accelerator.prepare(model, torch.optim.Adam(model.parameters(), lr=0.1))
        x, y = tensors()[:]
        for step in range(restore(accelerator, run) + 1, until + 1):
            loss = nn.functional.mse_loss(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            accelerator.log({"loss": loss.item(), "val_loss": 0.0}, step=step)
        save(accelerator, run, steps=until)
        return accelerator.unwrap_model(model)

    with core.init() as run:
        whole = train(run, 6)
    with core.init() as run:
        train(run, 3)
    monkeypatch.setenv("DET_LATEST_CHECKPOINT", list(on_cluster.checkpoints)[-1])
    with core.init() as run:
        resumed = train(run, 6)

    assert torch.equal(whole.weight, resumed.weight)
    assert {report["group"] for report in on_cluster.reports()} == {"training", "validation"}
