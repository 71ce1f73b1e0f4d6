"""Reports for half of its time, in a group of its own too, and then raises."""

import resolute


def step_into_trouble(step: int) -> None:
    raise RuntimeError(f"the batch of step {step} has no labels")


with resolute.init() as run:
    for step in range(1, 51):
        run.report("training", step, {"loss": 1.0 / step})
        run.report("test_set", step, {"accuracy": step / 100})
    step_into_trouble(50)
