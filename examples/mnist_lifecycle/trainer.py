"""Trains on one process or on many; it runs by itself (python trainer.py), and unchanged under `resolute.Model`.

The two imports from kaptain are all that ties it to a platform, and they happen only when one started it.
"""

import argparse
import logging
import os

import torch
import torch.distributed as dist
from model import DigitNet
from torch import nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler
from torchvision import datasets, transforms

logging.getLogger().setLevel(logging.INFO)

WORLD_SIZE = int(os.environ.get("WORLD_SIZE", "1"))
TO_TENSOR = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])


def is_managed() -> bool:
    return "MODEL_LIFECYCLE_PHASE" in os.environ


def digits(*, train: bool) -> Dataset:
    return datasets.MNIST("datasets", train=train, download=False, transform=TO_TENSOR)


def train_epoch(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, log_interval: int) -> None:
    model.train()
    for number, (pictures, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.nll_loss(model(pictures), labels)
        loss.backward()
        optimizer.step()
        if number % log_interval == 0:
            logging.info("Batch %d of %d, loss %.4f", number, len(loader), loss.item())


@torch.no_grad()
def test(model: nn.Module, loader: DataLoader) -> None:
    model.eval()
    total, loss, correct = 0, 0.0, 0
    for pictures, labels in loader:
        scores = model(pictures)
        loss += nn.functional.nll_loss(scores, labels, reduction="sum").item()
        correct += int((scores.argmax(dim=1) == labels).sum())
        total += len(labels)
    logging.info("Test accuracy: %d/%d", correct, total)
    if is_managed():
        from kaptain.platform.metadata_util import MetadataUtil

        MetadataUtil.record_metrics({"loss": loss / total, "accuracy": f"{correct / total:.4f}"})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log-interval", type=int, default=10)
    parser.add_argument("--backend", default=dist.Backend.GLOO, choices=[dist.Backend.GLOO, dist.Backend.NCCL])
    args, _ = parser.parse_known_args()
    torch.manual_seed(args.seed)
    if WORLD_SIZE > 1:
        dist.init_process_group(backend=args.backend)

    data = digits(train=True)
    sampler = DistributedSampler(data, seed=args.seed) if WORLD_SIZE > 1 else None
    loader = DataLoader(data, batch_size=args.batch_size, sampler=sampler, shuffle=sampler is None)
    test_loader = DataLoader(digits(train=False), batch_size=256)
    model = DigitNet()
    trained = nn.parallel.DistributedDataParallel(model) if WORLD_SIZE > 1 else model
    optimizer = torch.optim.Adam(trained.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        if sampler is not None:
            sampler.set_epoch(epoch)
        train_epoch(trained, loader, optimizer, args.log_interval)
        test(trained, test_loader)

    torch.save(model.state_dict(), "model.pt")
    if is_managed():
        from kaptain.platform.model_export_util import ModelExportUtil

        ModelExportUtil().upload_model("model.pt")
    if WORLD_SIZE > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
