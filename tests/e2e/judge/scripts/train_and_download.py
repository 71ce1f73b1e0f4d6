"""With the official SDK: submit, wait, download the best checkpoint. Arguments: config, model folder, target folder."""

import sys

from determined.experimental import client

config, model, target = sys.argv[1:]
client.login()
experiment = client.create_experiment(config, model)
trial = experiment.await_first_trial()
state = experiment.wait(interval=0.2)
checkpoint = experiment.top_checkpoint()
path = checkpoint.download(path=target)
print("state", state.name)
print("trial", trial.id)
print("steps", checkpoint.metadata["steps_completed"])
print("uuid", checkpoint.uuid)
print("path", path)
