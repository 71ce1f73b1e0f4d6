"""A model-free trainer for pictures: its loss falls the faster the better the hyperparameters are."""

import math
import random
import time

import resolute


def main() -> None:
    with resolute.init() as run:
        hparams = run.hparams
        restored = run.checkpoint.restore()
        first = restored.load()["step"] + 1 if restored else 1
        random.seed(7)
        print(f"\x1b[1mTraining\x1b[0m with rate \x1b[36m{hparams['rate']:.4g}\x1b[0m from step {first}")
        for step in range(first, hparams["steps"] + 1):
            loss, accuracy = curve(hparams, step)
            run.report("training", step, {"loss": loss + random.gauss(0, 0.04) * loss, "epoch": step / 20})
            if step % 10 == 0:
                metrics = {"validation_loss": loss * 1.08, "accuracy": accuracy, "batches": step}
                run.report("validation", step, metrics)
                run.progress(step / hparams["steps"])
                print(f"step {step:4d}  loss {loss:.4f}  \x1b[32maccuracy {accuracy:.3f}\x1b[0m")
            if step % 50 == 0:
                run.checkpoint.save({"step": step}, steps=step)
                print(f"WARNING the learning rate is still {hparams['rate']:.4g}")
            if run.should_stop():
                run.checkpoint.save({"step": step}, steps=step)
                return
            time.sleep(hparams["pause_s"])


def curve(hparams: dict[str, float], step: int) -> tuple[float, float]:
    distance = abs(math.log10(hparams["rate"]) + 2.5) + hparams["dropout"] + 8 / hparams["width"]
    loss = 0.15 + 0.2 * distance + 2.2 * math.exp(-step / (20 + 30 * distance))
    return loss, 1 / (1 + loss)


if __name__ == "__main__":
    main()
