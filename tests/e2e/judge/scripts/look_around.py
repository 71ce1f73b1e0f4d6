"""With the official SDK: read an experiment every way there is. Argument: its id."""

import sys

from determined.experimental import client

client.login()
experiment = client.get_experiment(int(sys.argv[1]))
(trial,) = experiment.list_trials()
training = list(trial.iter_metrics("training"))
validation = list(trial.iter_metrics("validation"))
checkpoints = experiment.list_checkpoints(sort_by="val_loss", order_by=client.OrderBy.ASC)
print("name", experiment.name)
print("training", [(m.steps_completed, round(m.metrics["loss"], 3)) for m in training])
print("validation", [(m.steps_completed, round(m.metrics["val_loss"], 3)) for m in validation])
print("best", checkpoints[0].metadata["steps_completed"])
print("checkpoints", len(trial.list_checkpoints()))
print("summary", trial.summary_metrics["validation_metrics"]["val_loss"]["count"])
print("logs", sum("finished step" in line for line in trial.logs()))
print("hparams", trial.hparams["steps"])
