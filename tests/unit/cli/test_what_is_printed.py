"""What people read, word for word: one typical screen per command."""

import textwrap
import time
from collections.abc import Iterator
from typing import Any

import pytest

from resolute.client.fake import FakeMaster


@pytest.fixture(autouse=True)
def greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times are shown as the local clock has them."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(autouse=True)
def busy_cluster(master: FakeMaster) -> None:
    """One experiment that completed, one that runs, and a cluster around them."""
    end = "2026-01-01T12:05:00.000000Z"
    master.add_experiment(1, name="tanks", state="COMPLETED", progress=1.0, numTrials=2, endTime=end)
    master.add_experiment(2, name="ships", progress=0.25, numTrials=1, searcherType="adaptive_asha", labels=["a", "b"])
    master.add_trial(1, state="COMPLETED", searcherMetricValue=0.5, totalBatchesProcessed=100, endTime=end)
    master.add_trial(2, state="ERROR", hparams={"lr": 1e-05}, restarts=5)
    master.add_trial(3, experiment_id=2)
    master.add_checkpoint("0b1e", trial_id=1, metric=0.5, files={"weights.pt": b"x" * 2048, "metadata.json": b"{}"})
    master.add_checkpoint("7c2f", trial_id=2, metric=0.75)
    device = {"type": "TYPE_CUDA", "brand": "H200"}
    slots = {
        "0": {"id": "0", "device": device, "enabled": True, "draining": False, "container": {"parent": "2.y"}},
        "1": {"id": "1", "device": device, "enabled": False, "draining": False},
    }
    agent = {"id": "node-1", "slots": slots, "resourcePools": ["default"], "enabled": True, "draining": False}
    pool = {
        "name": "default",
        "numAgents": 1,
        "slotsUsed": 1,
        "slotsAvailable": 2,
        "slotType": "TYPE_CUDA",
        "schedulerType": "SCHEDULER_TYPE_PRIORITY",
        "schedulerFittingPolicy": "FITTING_POLICY_BEST",
        "defaultComputePool": True,
    }
    job = {
        "jobId": "job-2",
        "type": "TYPE_EXPERIMENT",
        "name": "ships",
        "priority": 42,
        "weight": 1.0,
        "summary": {"state": "STATE_SCHEDULED", "jobsAhead": 0},
        "allocatedSlots": 1,
        "requestedSlots": 4,
        "progress": 0.25,
        "username": "determined",
        "submissionTime": "2026-01-01T12:00:00Z",
    }
    task = {"allocationId": "2.y.1", "taskId": "2.y", "name": "Trial 3 (Experiment 2)", "slotsNeeded": 1}
    master.lists = {
        "agents": [{**agent, "addresses": ["10.0.0.1"], "registeredTime": "2026-01-01T11:00:00Z"}],
        "resourcePools": [pool],
        "jobs": [{"full": job}],
        "tasks": [{**task, "resourcePool": "default", "priority": 42, "registeredTime": "2026-01-01T12:00:00Z"}],
        "users": [{"username": "ada", "displayName": "Ada L.", "active": True, "admin": False}],
        "workspaces": [{"id": 1, "name": "Vision", "username": "ada", "numProjects": 1, "numExperiments": 2}],
        "projects": [{"id": 3, "name": "tanks", "description": "small", "numExperiments": 2, "archived": False}],
        "templates": [{"name": "base", "workspaceId": 1, "config": {"max_restarts": 1}}],
    }


SCREENS: dict[str, str] = {
    "e list": """
        ID  Owner       Name   State      Progress  Trials  Started              Ended                Pool
        1   determined  tanks  COMPLETED  100.0 %   2       2026-01-01 12:00:00  2026-01-01 12:05:00  default
        2   determined  ships  ACTIVE     25.0 %    1       2026-01-01 12:00:00  -                    default
    """,
    "e lt 1": """
        Trial  State      Steps  Best metric  Restarts  Hyperparameters  Started              Ended
        1      COMPLETED  100    0.5          0         {"lr": 0.1}      2026-01-01 12:00:00  2026-01-01 12:05:00
        2      ERROR      10     -            5         {"lr": 1e-05}    2026-01-01 12:00:00  -
    """,
    "e lc 1": """
        Trial  Steps  State      loss  UUID  Size     Written
        1      10     COMPLETED  0.5   0b1e  2.0 KiB  2026-01-01 12:00:00
        2      10     COMPLETED  0.75  7c2f  0 B      2026-01-01 12:00:00
    """,
    "e lc 1 --best 1": """
        Trial  Steps  State      loss  UUID  Size     Written
        1      10     COMPLETED  0.5   0b1e  2.0 KiB  2026-01-01 12:00:00
    """,
    "e describe 2": """
        Experiment   2
        Name         ships
        State        ACTIVE
        Progress     25.0 %
        Description  -
        Labels       a, b
        Owner        determined
        Workspace    -
        Project      -
        Searcher     adaptive_asha
        Metric       loss
        Started      2026-01-01 12:00:00
        Ended        -
        Archived     no

        Trial  State    Steps  Best metric  Restarts  Hyperparameters  Started              Ended
        3      RUNNING  10     -            0         {"lr": 0.1}      2026-01-01 12:00:00  -
    """,
    "t describe 2": """
        Trial            2
        Experiment       1
        State            ERROR
        Hyperparameters  {"lr": 1e-05}
        Steps            10
        Best metric      -
        Restarts         5
        Started          2026-01-01 12:00:00
        Ended            -

        Steps  Kind  Values  Time
    """,
    "c describe 0b1e": """
        Checkpoint  0b1e
        State       COMPLETED
        Experiment  1
        Trial       1
        Steps       10
        Validation  {"loss": 0.5}
        Size        2.0 KiB
        Written     2026-01-01 12:00:00
        Metadata    {"steps_completed": 10}

        File           Size
        metadata.json  2 B
        weights.pt     2.0 KiB
    """,
    "a list": """
        Agent   Slots  In use  Pools    Enabled  Draining  Addresses  Since
        node-1  2      1       default  yes      no        10.0.0.1   2026-01-01 11:00:00
    """,
    "s list": """
        Agent   Slot  Type  Device  Enabled  Draining  Task
        node-1  0     CUDA  H200    yes      no        Trial 3 (Experiment 2)
        node-1  1     CUDA  H200    no       no        free
    """,
    "rp list": """
        Name     Agents  Slots in use  Slots  Slot type  Scheduler  Fitting  Default
        default  1       1             2      CUDA       priority   best     yes
    """,
    "j list": """
        #  Job    Type        Name   Priority  Weight  State      Slots  Progress  User        Submitted
        0  job-2  experiment  ships  42        1       SCHEDULED  1/4    25 %      determined  2026-01-01 12:00:00
    """,
    "task list": """
        Task  Allocation  Name                    Slots  Pool     Priority  Since
        2.y   2.y.1       Trial 3 (Experiment 2)  1      default  42        2026-01-01 12:00:00
    """,
    "u list": """
        Username  Display name  Active  Admin  Last login
        ada       Ada L.        yes     no     -
    """,
    "w list": """
        ID  Name    Owner  Projects  Experiments  Archived
        1   Vision  ada    1         2            -
    """,
    "w describe Vision": """
        ID           1
        Name         Vision
        Owner        ada
        Projects     1
        Experiments  2
        Archived     -
    """,
    "p list Vision": """
        ID  Name   Description  Experiments  Archived
        3   tanks  small        2            no
    """,
    "p list-experiments Vision tanks": """
        ID  Name   State      Owner       Started
        1   tanks  COMPLETED  determined  2026-01-01 12:00:00
        2   ships  ACTIVE     determined  2026-01-01 12:00:00
    """,
    "tpl list": """
        Name  Workspace
        base  1
    """,
    "tpl describe base": """
        max_restarts: 1
    """,
    "master config": """
        scheduler:
          type: priority
    """,
    "master logs": """
        2026-01-01 12:00:00 INFO: master is ready
    """,
    "e pause 2": """
        Paused experiment 2
    """,
    "e set priority 2 7": """
        Set priority of experiment 2 to 7
    """,
    "e set gc-policy 2 --save-experiment-best 1 --save-trial-best 2 --save-trial-latest 3 --yes": """
        Set checkpoint policy of experiment 2 to keep the best 1 of all, and of each trial the best 2 and the newest 3
    """,
    "e label add 2 c": """
        Set labels of experiment 2 to a, b, c
    """,
    "e move 1 Vision tanks": """
        Moved experiment 1 to Vision/tanks
    """,
    "t kill 3": """
        Killed trial 3
    """,
    "c delete 0b1e --yes": """
        Deleting 0b1e
    """,
    "j update job-2 --priority 5": """
        Updated job job-2
    """,
    "a disable node-1 --drain": """
        Draining agent node-1
    """,
    "s enable node-1 1": """
        Enabled slot 1 of agent node-1
    """,
    "w create New": """
        Created workspace New
    """,
    "p create Vision ships": """
        Created project ships in workspace Vision
    """,
    "tpl rm base": """
        Removed template base
    """,
    "u create bob --password Secret123": """
        Created user bob
    """,
}


@pytest.mark.parametrize("typed", SCREENS)
def test_a_typical_screen(resolute: Any, typed: str) -> None:
    outcome = resolute(*typed.split())

    printed = "\n".join(line.rstrip() for line in outcome.out.splitlines())
    assert (outcome.code, outcome.err) == (0, "")
    assert printed == textwrap.dedent(SCREENS[typed]).strip("\n")


@pytest.mark.parametrize("typed", [line for line in SCREENS if line not in ("master logs",)])
def test_the_same_as_json_is_one_document(resolute: Any, typed: str) -> None:
    outcome = resolute(*typed.split(), "--json")

    assert outcome.code == 0
    assert outcome.json is not None
