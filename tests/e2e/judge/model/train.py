"""A training script written for the official harness: reports, checkpoints and stops as its documentation says."""

import pathlib
import time

import determined as det


def main() -> None:
    info = det.get_cluster_info()
    assert info is not None
    assert info.trial is not None
    steps = int(info.trial.hparams["steps"])
    pause_s = float(info.trial.hparams["pause_s"])
    distributed = det.core.DummyDistributedContext()
    with det.core.init(distributed=distributed, tensorboard_mode=det.core.TensorboardMode.MANUAL) as core:
        first = 0
        if info.latest_checkpoint is not None:
            with core.checkpoint.restore_path(info.latest_checkpoint) as path:
                first = int((path / "steps.txt").read_text())
            print(f"resumed at {first}", flush=True)
        for step in range(first + 1, steps + 1):
            if step == info.trial.hparams.get("fail_at"):
                raise SystemExit("failing as configured")
            core.train.report_training_metrics(steps_completed=step, metrics={"loss": 1 / step})
            core.train.report_validation_metrics(steps_completed=step, metrics={"val_loss": 2 / step})
            core.train.report_progress(step / steps)
            with core.checkpoint.store_path({"steps_completed": step}) as (path, _):
                pathlib.Path(path, "steps.txt").write_text(str(step))
            print(f"finished step {step}", flush=True)
            if core.preempt.should_preempt():
                print("leaving", flush=True)
                return
            time.sleep(pause_s)


main()
