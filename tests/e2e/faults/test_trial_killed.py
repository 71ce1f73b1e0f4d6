"""kill -9 of a trial's process: it goes on from its last checkpoint, and the restart is counted."""

CONFIG = """
name: crasher
entrypoint: python3 crasher.py
max_restarts: 3
searcher: {name: single, metric: loss}
"""


def test_a_killed_trial_goes_on_from_its_last_checkpoint(master) -> None:
    experiment = master.create(CONFIG, "crasher.py")

    state = master.wait(experiment)

    [trial] = master.trials(experiment)
    log = master.log(trial["id"])
    assert state == "STATE_COMPLETED"
    assert trial["restarts"] == 1
    assert "starting at step 0" in log
    assert "starting at step 5" in log
    assert "restart 1 of at most 3" in log


def test_metrics_of_the_lost_stretch_are_replaced_by_those_of_the_new_run(master) -> None:
    experiment = master.create(CONFIG, "crasher.py")

    master.wait(experiment)

    [trial] = master.trials(experiment)
    workloads = master.call("GET", f"/api/v1/trials/{trial['id']}/workloads", params={"limit": 1000})["workloads"]
    steps = sorted(item["validation"]["totalBatches"] for item in workloads if item.get("validation"))
    assert steps == list(range(1, 13))
