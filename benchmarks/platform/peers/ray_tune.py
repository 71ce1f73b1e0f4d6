"""Ray Tune: time from `fit` to the first report, and no-op trials per second. Run in the peers' environment."""

import json
import os
import sys
import time

os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
os.environ.setdefault("RAY_DEDUP_LOGS", "0")

import ray
from ray import tune


def first_report(config):
    tune.report({"loss": 1.0, "at": time.time()})


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    warm = []
    for _ in range(3):
        began = time.time()
        results = tune.Tuner(first_report, run_config=tune.RunConfig(verbose=0)).fit()
        warm.append(results[0].metrics["at"] - began)
    began = time.time()
    tune.Tuner(
        first_report,
        tune_config=tune.TuneConfig(num_samples=trials, max_concurrent_trials=2, reuse_actors=True),
        run_config=tune.RunConfig(verbose=0),
    ).fit()
    rate = trials / (time.time() - began)
    print(json.dumps({"ray": ray.__version__, "first_report_s": sorted(warm)[1], "trials_per_s": rate}))


main()
