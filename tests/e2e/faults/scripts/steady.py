"""A trial that reports a value at every step, one request at a time, and writes down what the master acknowledged.

Standard library only, so that what is tested is the master and not our own retries.
"""

import json
import os
import time
import urllib.error
import urllib.request
from pathlib import Path

STEPS = int(os.environ["STEADY_STEPS"])
RECORD = Path(os.environ["STEADY_RECORD"])
URL = f"{os.environ['DET_MASTER']}/api/v1/trials/{os.environ['DET_TRIAL_ID']}/metrics"


def post(step: int, value: float) -> None:
    body = {
        "group": "validation" if step % 10 == 0 else "training",
        "metrics": {
            "trialId": int(os.environ["DET_TRIAL_ID"]),
            "trialRunId": int(os.environ["DET_TRIAL_RUN_ID"]),
            "stepsCompleted": step,
            "metrics": {"avgMetrics": {"loss": value}},
        },
    }
    request = urllib.request.Request(
        URL,
        data=json.dumps(body).encode(),
        headers={"Grpc-Metadata-x-allocation-token": f"Bearer {os.environ['DET_SESSION_TOKEN']}"},
    )
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10):
                return
        except urllib.error.HTTPError as error:
            if error.code < 500:
                raise
        except OSError:
            pass
        time.sleep(0.05)


def main() -> None:
    name = f"{os.environ['DET_TRIAL_ID']}.{os.environ['DET_TRIAL_RUN_ID']}"
    with (RECORD / "starts").open("a") as starts:
        starts.write(f"{name}\n")
    with (RECORD / f"{name}.acked").open("a", buffering=1) as acked:
        for step in range(1, STEPS + 1):
            value = 1.0 / step
            post(step, value)
            acked.write(f"{step} {value!r}\n")
            time.sleep(0.02)


main()
