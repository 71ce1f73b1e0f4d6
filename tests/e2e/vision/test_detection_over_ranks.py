"""Detection over two real ranks: every image is measured once, statistics are shared, and ranks judge a batch alike."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from resolute.vision import CocoEvaluator, load_detector
from resolute.vision.data.labels import as_coco
from resolute.vision.data.sources import FakeImages
from resolute.vision.settings import read_settings
from resolute.vision.splits import open_splits

SETTINGS: dict[str, Any] = {
    "model": "ssdlite320_mobilenet_v3_large", "min_size": 64, "backend": "fake", "fake_images": 20, "fake_size": 64,
    "global_batch_size": 4, "num_classes": 3, "score_threshold": 0.0, "detections_per_image": 10,
    "data_augmentation": "none",
}  # fmt: skip
IMAGES = 5
"""To measure on: rank 0 has three of them and rank 1 two."""
POISONED = """
import sys
from resolute.pytorch import Batch, Trainer, init
from resolute.vision import DetectionTrial


class Poisoned(DetectionTrial):
    def _augmented(self, batch, step):
        images, targets = super()._augmented(batch, step)
        is_bad = step == 1 and self.context.distributed.rank == 1
        return ([image * float("nan") for image in images] if is_bad else images), targets


with init(hparams=dict(%r), folder=sys.argv[1]) as context:
    trial = Poisoned(context)
    Trainer(trial, context).fit(max_length=Batch(3))
    total = sum(float(value.double().sum()) for value in trial.model.parameters())
    rows = context.gather((int(trial.safeguard._in_all), total))
    if context.distributed.is_chief:
        print("GATHERED", rows[0] == rows[1], rows[0][0], all(abs(row[1]) < 1e9 for row in rows))
"""
NORMS = """
import torch
import torch.distributed as dist
from torch import nn
from resolute.vision.zoo.shared_norm import with_shared_norms

dist.init_process_group("gloo")
torch.manual_seed(0)
pixels, weights = torch.randn(6, 3, 5, 4) * 3 + 1, torch.randn(6, 3, 5, 4)
whole = pixels.clone().requires_grad_()
plain = nn.Sequential(nn.BatchNorm2d(3))
nn.init.uniform_(plain[0].weight)
shared = nn.Sequential(nn.BatchNorm2d(3))
shared.load_state_dict(plain.state_dict())
shared = with_shared_norms(shared)
rows = slice(0, 2) if dist.get_rank() == 0 else slice(2, 6)  # Ranks may have unequal parts.
part = pixels[rows].clone().requires_grad_()

(plain(whole) * weights).sum().backward()
(shared(part) * weights[rows]).sum().backward()
for parameter in shared.parameters():
    dist.all_reduce(parameter.grad)

torch.testing.assert_close(part.grad, whole.grad[rows], rtol=1e-4, atol=1e-5)
for ours, theirs in zip(shared.parameters(), plain.parameters()):
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-4)
for ours, theirs in zip(shared.buffers(), plain.buffers()):
    torch.testing.assert_close(ours, theirs)
shared.eval(), plain.eval()
torch.testing.assert_close(shared(pixels), plain(pixels))
print("EQUAL")
dist.destroy_process_group()
"""


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DET_", "RESOLUTE_"))}
    return {**kept, "OMP_NUM_THREADS": "1"}


def run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, timeout=250, env=environment()
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def checkpoint(folder: Path) -> Path:
    (found,) = (folder / "checkpoints").iterdir()
    return found


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The run folders of one batch on one slot and on two."""
    root = tmp_path_factory.mktemp("ranks")
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
    for slots in (1, 2):
        place = [f"--slots={slots}", "--sync-bn=true", "--batches=1", f"--folder={root}/{slots}"]
        run("resolute.vision.train", *options, *place)
    return {slots: root / str(slots) for slots in (1, 2)}


def test_an_uneven_set_is_measured_once_over_two_ranks(trained: dict[int, Path]) -> None:
    folder = checkpoint(trained[2])
    detector = load_detector(folder)
    table = open_splits(read_settings(SETTINGS), with_masks=False, seed=0).val
    alone = CocoEvaluator(as_coco(table))
    pictures = [FakeImages().read(sample) for sample in table.samples]
    alone.update([s.image_id for s in table.samples], detector.detect(pictures), table.label_to_category)

    document = json.loads((folder / "evaluation.json").read_text())

    assert len(table.samples) == IMAGES
    assert (document["images_seen"], document["images_unseen"]) == (IMAGES, 0)
    assert sum(row["detections"] for row in document["classes"]) == 10 * IMAGES
    assert sum(row["count"] for row in document["classes"]) == sum(len(sample.boxes) for sample in table.samples)
    assert document["summary"] == pytest.approx(alone.summary(), abs=1e-6)


def test_two_ranks_learn_the_statistics_of_the_whole_batch(trained: dict[int, Path]) -> None:
    names = [f"backbone.features.0.0.1.running_{kind}" for kind in ("mean", "var")]
    one, two = (load_detector(checkpoint(trained[slots])).model.state_dict() for slots in (1, 2))

    for name in names:
        torch.testing.assert_close(two[name], one[name], rtol=1e-4, atol=1e-6)


def test_a_bad_batch_on_one_rank_is_left_out_on_both(tmp_path: Path) -> None:
    script = tmp_path / "poisoned.py"
    script.write_text(POISONED % SETTINGS)

    out = run("resolute.launch.torch_distributed", "--nproc", "2", str(script), str(tmp_path / "run"))

    assert "GATHERED True 1 True" in out


def test_shared_batch_norm_is_batch_norm_of_all_ranks_images_with_its_gradients(tmp_path: Path) -> None:
    script = tmp_path / "norms.py"
    script.write_text(NORMS)

    out = run("resolute.launch.torch_distributed", "--nproc", "2", str(script))

    assert out.count("EQUAL") == 2
