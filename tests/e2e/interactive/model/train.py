"""Reports a falling loss, quickly."""

import resolute

with resolute.init() as run:
    for step in range(1, 6):
        run.report("validation", step, {"validation_loss": 1 / step})
