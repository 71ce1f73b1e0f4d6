"""The launcher with real processes: variables, output, failures, kills, and training over ranks."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from resolute.client.task.fake import FakeTaskMaster


def curve(master: FakeTaskMaster) -> dict[int, Any]:
    """The last report of each step: a restart repeats some."""
    return {report["stepsCompleted"]: report["metrics"]["avgMetrics"]["loss"] for report in master.reports("training")}


def test_an_unmodified_torchrun_script_runs_on_two_slots(launch: Any) -> None:
    script = Path(__file__).parents[3] / "examples" / "ddp_script" / "train.py"

    done = launch("--nproc", "2", "--", str(script))

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert Counter(line.split("] ")[0] for line in lines) == {"[rank=0": 5, "[rank=1": 5}
    assert "epoch 4 rank 1 of 2" in done.stdout


def test_a_failing_rank_fails_the_whole_with_its_code_and_its_traceback(launch: Any, points: str) -> None:
    done = launch("--nproc", "2", points, plan={"fail": [1, 3]})

    assert done.returncode == 1
    assert "[rank=1] RuntimeError: broken on purpose" in done.stderr
    # The other rank loses its partner and may be the first to be gone.
    assert re.search(r"Rank [01] ended with exit code 1", done.stderr)


def test_a_killed_rank_is_started_again_and_the_curve_is_the_same_bit_for_bit(
    launch: Any, points: str, tmp_path: Path
) -> None:
    curves = []
    for name, kill in (("whole", None), ("killed", [1, 13, 0])):
        with FakeTaskMaster() as master:
            env = master.env(tmp_path / name, DET_SLOT_IDS="[0, 1]")
            done = launch(points, plan={"kill": kill}, env=env)
            assert done.returncode == 0, done.stderr
            curves.append(curve(master))

    assert "Rank 1 was killed by SIGKILL" in done.stderr
    assert sorted(curves[1]) == list(range(1, 21))
    assert curves[1] == curves[0]


def test_two_ranks_see_each_sample_once_an_epoch_also_when_three_go_on(
    launch: Any, points: str, master: FakeTaskMaster, tmp_path: Path
) -> None:
    samples = tmp_path / "samples"
    samples.mkdir()
    plan = {"samples": str(samples), "length": 47, "steps": 3, "checkpoint": 3}
    first = launch(points, plan=plan, env=master.env(tmp_path / "storage", DET_SLOT_IDS="[0, 1]"))
    assert first.returncode == 0, first.stderr
    (latest,) = master.checkpoints

    env = master.env(tmp_path / "storage", DET_SLOT_IDS="[0, 1, 2]", DET_LATEST_CHECKPOINT=latest, DET_TRIAL_RUN_ID="2")
    second = launch(points, plan={**plan, "steps": 5}, env=env)

    assert second.returncode == 0, second.stderr
    assert "made on 2 slots and goes on with 3" in second.stderr
    seen = [line for file in samples.iterdir() for line in file.read_text().splitlines()]
    assert Counter(seen) == Counter(f"0 {index}" for index in range(47))


def test_ranks_that_share_a_batch_learn_what_one_would(launch: Any, points: str, tmp_path: Path) -> None:
    """With uneven shares the weighted losses must give the gradient of the whole batch."""
    finals = []
    for name, slots in (("one", "[0]"), ("two", "[0, 1]")):
        with FakeTaskMaster() as master:
            done = launch(
                points, plan={"batch": 9, "steps": 5, "noise": 0}, env=master.env(tmp_path / name, DET_SLOT_IDS=slots)
            )
            assert done.returncode == 0, done.stderr
            (validation,) = master.reports("validation")
            finals.append(validation["metrics"]["avgMetrics"]["validation_loss"])

    assert finals[0] == pytest.approx(finals[1], rel=1e-5)


def test_sharded_models_train_save_and_resume(launch: Any, points: str, master: FakeTaskMaster, tmp_path: Path) -> None:
    plan = {"strategy": "fsdp", "steps": 6, "checkpoint": 3}
    first = launch(points, plan=plan, env=master.env(tmp_path / "storage", DET_SLOT_IDS="[0, 1]"))
    assert first.returncode == 0, first.stderr
    middle = next(u for u, item in master.checkpoints.items() if item["metadata"]["steps_completed"] == 3)
    whole = curve(master)
    master.calls.clear()

    env = master.env(tmp_path / "storage", DET_SLOT_IDS="[0, 1]", DET_LATEST_CHECKPOINT=middle, DET_TRIAL_RUN_ID="2")
    second = launch(points, plan=plan, env=env)

    assert second.returncode == 0, second.stderr
    assert curve(master) == {step: whole[step] for step in (4, 5, 6)}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missing.py"], "There is no script 'missing.py'"),
        ([], "No script was given"),
        (["--nproc", "two", "x.py"], "--nproc is 'two'"),
        (["--color", "x.py"], "Unknown option --color"),
    ],
)
def test_a_wrong_command_line_is_a_sentence(launch: Any, arguments: list[str], sentence: str) -> None:
    done = launch(*arguments)

    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_class_is_trained_by_its_name(launch: Any, master: FakeTaskMaster, tmp_path: Path, points: str) -> None:
    (tmp_path / "model_def.py").write_text(Path(points).read_text())
    config = {
        "searcher": {"name": "single", "metric": "validation_loss", "max_length": {"batches": 4}},
        "scheduling_unit": 2,
    }
    env = master.env(tmp_path / "storage", config=config, DET_SLOT_IDS="[0, 1]", DET_HPARAMS='{"global_batch_size": 4}')

    done = launch("model_def:PointsTrial", env=env, module="resolute.launch.trial")

    assert done.returncode == 0, done.stderr
    assert sorted(curve(master)) == [2, 4]


def test_a_class_that_is_not_there_is_named(launch: Any, tmp_path: Path) -> None:
    (tmp_path / "model_def.py").write_text("class Other: pass\n")

    done = launch("model_def:Iris", module="resolute.launch.trial")

    assert done.returncode == 1
    assert "has no class 'Iris'; it has: Other" in done.stderr
