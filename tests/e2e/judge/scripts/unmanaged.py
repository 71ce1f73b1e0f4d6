"""With the official SDK: a script outside the platform reports to it. Arguments: names of experiment and trial."""

import sys

from determined.experimental import core_v2

experiment, trial = sys.argv[1:]
core_v2.init(
    config=core_v2.Config(
        name="from outside",
        searcher={"name": "single", "metric": "loss"},
        external_experiment_id=experiment,
        external_trial_id=trial,
    ),
    tensorboard_mode=core_v2.TensorboardMode.MANUAL,
)
for step in range(1, 4):
    core_v2.train.report_training_metrics(steps_completed=step, metrics={"loss": 1 / step})
    core_v2.train.report_validation_metrics(steps_completed=step, metrics={"loss": 2 / step})
core_v2.close()
