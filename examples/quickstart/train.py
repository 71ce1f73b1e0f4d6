"""A plain training script. The lines with `run` are all that Resolute needs; it also runs alone: python train.py"""

import argparse
import os
import signal

import torch
from torch import nn

import resolute


def main(crash_at: int | None) -> None:
    with resolute.init(hparams={"lr": 0.05, "width": 16, "steps": 200}) as run:
        torch.manual_seed(run.seed)
        x = torch.rand(512, 2) * 2 - 1
        y = (x.square().sum(dim=1, keepdim=True) < 0.6).float()  # Is the point inside the circle?
        width = run.hparams["width"]
        model = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 1))
        optimizer = torch.optim.Adam(model.parameters(), lr=run.hparams["lr"])

        first = 0
        restored = run.checkpoint.restore()  # None on a first start
        if restored is not None:
            state = restored.load()
            model.load_state_dict(state["model"])
            optimizer.load_state_dict(state["optimizer"])
            first = restored.steps

        def save(step: int) -> None:
            run.checkpoint.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, steps=step)

        steps = run.hparams["steps"]
        for step in range(first + 1, steps + 1):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x[:384]), y[:384])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run.report("training", step, {"loss": loss.item()})
            if step % 20 == 0 or step == steps:
                with torch.no_grad():
                    accuracy = ((model(x[384:]) > 0) == (y[384:] > 0.5)).float().mean()
                run.report("validation", step, {"accuracy": accuracy, "batches": step})
                run.progress(step / steps)
                save(step)
            if crash_at == step and restored is None:
                os.kill(os.getpid(), signal.SIGKILL)  # Plays a machine that dies, once.
            if run.should_stop():
                save(step)
                return


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--crash-at", type=int)
    main(parser.parse_args().crash_at)
