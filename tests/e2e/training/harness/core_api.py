"""User code written for Determined's Core API, unchanged: reports, checkpoints, preemption, resume."""

import json
import logging
import os
import signal

import determined as det


def main() -> None:
    info = det.get_cluster_info()
    assert info is not None, "not on a cluster"
    with det.core.init(tensorboard_mode=det.core.TensorboardMode.MANUAL) as core_context:
        step = 0
        if info.latest_checkpoint is not None:
            with core_context.checkpoint.restore_path(info.latest_checkpoint) as path:
                step = json.loads((path / "state.json").read_text())["step"]
        while step < 10:
            step += 1
            core_context.train.report_training_metrics(steps_completed=step, metrics={"loss": 1.0 / step})
            if step % 5 == 0:
                core_context.train.report_validation_metrics(steps_completed=step, metrics={"accuracy": step / 10})
                with core_context.checkpoint.store_path({"steps_completed": step}) as (path, _):
                    (path / "state.json").write_text(json.dumps({"step": step}))
                if step == 5 and info.latest_checkpoint is None:
                    os.kill(os.getpid(), signal.SIGKILL)
            core_context.train.report_progress(step / 10)
            if core_context.preempt.should_preempt():
                return
    print("hparam", info.trial.hparams["width"])


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    main()
