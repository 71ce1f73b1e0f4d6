"""A trial over three hosts that are cut off and die, under a master that is killed: nothing runs twice, nothing that
was acknowledged is lost, and the trial goes on from its checkpoint.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resolute.runners.contract import until

CONFIG = """
name: voyage
entrypoint: python3 -m resolute.launch.torch_distributed voyage.py
resources: {{slots_per_trial: 3}}
max_restarts: 5
searcher: {{name: single, metric: loss, max_length: {{batches: 1000}}}}
environment: {{environment_variables: [OMP_NUM_THREADS=1, LEDGER={ledger}]}}
"""


class Ledger:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def lines(self, name: str) -> list[list[str]]:
        try:
            return [line.split() for line in (self.folder / name).read_text().splitlines()]
        except FileNotFoundError:
            return []

    def steps(self, name: str, run: int) -> list[int]:
        return [int(line[1]) for line in self.lines(name) if line[0] == str(run)]

    def wait_for_more(self, name: str, run: int, count: int = 1) -> None:
        wanted = len(self.steps(name, run)) + count
        until(lambda: len(self.steps(name, run)) >= wanted, patience_s=90)


@pytest.mark.timeout(400)
def test_a_trial_over_three_hosts_survives_a_cut_a_dead_host_and_a_dead_master(
    cluster: Any, switch_off: Callable[[Any], None], pause: Callable[[float], None]
) -> None:
    ledger = Ledger(cluster.folder / "ledger")
    experiment = cluster.submit(CONFIG.format(ledger=ledger.folder))
    ledger.wait_for_more("saved", 1)

    # The host of rank 0 is cut off from the master and from its partners, and comes back.
    cluster.hosts[0].cut_off()
    pause(30)
    during = len(ledger.steps("acknowledged", 1))
    cluster.hosts[0].join()
    until(lambda: len(ledger.steps("acknowledged", 1)) > during + 1, patience_s=90)
    assert ledger.lines("starts") == [["1", "0"]]

    # The master is killed, a host dies while it is away, and the next master finds what is left.
    ledger.wait_for_more("saved", 1)
    cluster.kill_master()
    switch_off(cluster.hosts[1])
    cluster.start()
    ledger.wait_for_more("saved", 2)
    last_saved = str(ledger.steps("saved", 1)[-1])

    # The master is killed once more while all is well.
    cluster.kill_master()
    cluster.start()
    ledger.wait_for_more("acknowledged", 2, 3)
    (ledger.folder / "finish").touch()
    state = cluster.master.wait(experiment, timeout_s=200)

    assert state == "STATE_COMPLETED", cluster.log(cluster.trial(experiment)["id"])
    assert ledger.lines("starts") == [["1", "0"], ["2", last_saved]]
    assert sorted(line[:2] for line in ledger.lines("processes")) == [[run, rank] for run in "12" for rank in "012"]
    assert ledger.lines("doubles") == []
    acknowledged = {(int(step), float(value)) for _, step, value in ledger.lines("acknowledged")}
    assert acknowledged <= stored(cluster, cluster.trial(experiment)["id"])


def stored(cluster: Any, trial: int) -> set[tuple[int, float]]:
    query = {"limit": 100000, "metricType": "METRIC_TYPE_VALIDATION"}
    answer = cluster.master.call("GET", f"/api/v1/trials/{trial}/workloads", params=query)
    points = [workload["validation"] for workload in answer["workloads"] if workload.get("validation")]
    return {(int(point["totalBatches"]), float(point["metrics"]["avgMetrics"]["loss"])) for point in points}
