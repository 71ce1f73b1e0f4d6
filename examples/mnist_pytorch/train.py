"""The same digits as a plain script: `entrypoint: python3 train.py`, or just `python train.py`."""

import torch
from digits import draw_digits
from model_def import build_network
from torch import nn
from torch.utils.data import DataLoader

import resolute

DEFAULTS = {"learning_rate": 0.01, "filters": 8, "dropout": 0.1, "global_batch_size": 64, "epochs": 3}


def main() -> None:
    with resolute.init(hparams=DEFAULTS) as run:
        torch.manual_seed(run.seed)
        model = build_network(run.hparams["filters"], run.hparams["dropout"])
        optimizer = torch.optim.Adam(model.parameters(), lr=run.hparams["learning_rate"])
        training = DataLoader(draw_digits(2048, seed=1), run.hparams["global_batch_size"], shuffle=True)
        pictures, labels = draw_digits(512, seed=2).tensors

        first_epoch = steps = 0
        restored = run.checkpoint.restore()
        if restored is not None:
            state = restored.load()
            model.load_state_dict(state["model"])
            optimizer.load_state_dict(state["optimizer"])
            first_epoch, steps = state["epoch"], restored.steps

        for epoch in range(first_epoch, run.hparams["epochs"]):
            model.train()
            for batch_pictures, batch_labels in training:
                loss = nn.functional.cross_entropy(model(batch_pictures), batch_labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                steps += 1
                if steps % 8 == 0:
                    run.report("training", steps, {"loss": loss})
            model.eval()
            with torch.no_grad():
                accuracy = (model(pictures).argmax(dim=1) == labels).float().mean()
            run.report("validation", steps, {"accuracy": accuracy})
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch + 1}
            run.checkpoint.save(state, steps=steps)
            run.progress((epoch + 1) / run.hparams["epochs"])
            if run.should_stop():
                return


if __name__ == "__main__":
    main()
