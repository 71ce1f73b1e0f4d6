"""What a trial's processes find: the command, the environment, the files."""

import io
import json
import tarfile
from typing import Any

import pytest

from resolute.domain.errors import InvalidConfig, InvalidInput
from resolute.engine.jobs.environment import required_packages
from resolute.engine.jobs.starting import build_gang
from resolute.engine.ports.runner import Gang
from resolute.engine.trials.gang import is_trial_class
from resolute.spec.environment import Environment

BASE = """
name: test
entrypoint: python3 train.py
searcher: {name: single, metric: loss}
"""


def packed(**files: str) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name.replace("_", "."))
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return content.getvalue()


def gang_of(world: Any, config: str = BASE, **options: Any) -> Gang:
    """The gang of its trial's newest allocation, as it was started."""
    experiment = world.create(config, **options)
    world.tick()
    return newest_gang(world, world.trials(experiment.id)[0])


def newest_gang(world: Any, trial: Any) -> Gang:
    with world.platform.store.read() as tx:
        return build_gang(world.platform, tx.allocations.of_task(trial.task_id)[-1])


def with_environment(text: str) -> str:
    return f"{BASE}environment: {text}\n"


# ------------------------------------------------------------------------------------------------------- the command


@pytest.mark.parametrize(
    ("entrypoint", "environment", "started"),
    [
        ("python3 train.py --lr 1", "", "python3 train.py --lr 1"),
        ("[python3, train.py, 'a b']", "", ("python3", "train.py", "a b")),
        ("model:Trial", "", "python3 -m resolute.launch.trial model:Trial"),
        ("package.model:Trial", "", "python3 -m resolute.launch.trial package.model:Trial"),
        (
            "model:Trial",
            "{python: /opt/bin/python}",
            "python3 -m determined.launch.torch_distributed --trial model:Trial",
        ),
        (
            "python3 -m determined.launch.torch_distributed --trial model:Trial",
            "",
            "python3 -m resolute.launch.trial model:Trial",
        ),
        (
            "python3 -m determined.launch.torch_distributed --trial model:Trial",
            "{python: /opt/bin/python}",
            "python3 -m determined.launch.torch_distributed --trial model:Trial",
        ),
        (
            "python3 -m determined.launch.torch_distributed python3 train.py",
            "",
            "python3 -m determined.launch.torch_distributed python3 train.py",
        ),
    ],
)
def test_the_entrypoint_becomes_a_command(world: Any, entrypoint: str, environment: str, started: Any) -> None:
    text = BASE.replace("python3 train.py", entrypoint) + (f"environment: {environment}\n" if environment else "")

    assert gang_of(world, text).entrypoint == started


@pytest.mark.parametrize(
    ("entrypoint", "is_class"),
    [("a:B", True), ("a.b:C", True), ("a:b c", False), ("a", False), ("a/b:C", False), (":C", False), ("1a:B", False)],
)
def test_a_trial_class_is_a_module_and_a_name(entrypoint: str, is_class: bool) -> None:
    assert is_trial_class(entrypoint) is is_class


# --------------------------------------------------------------------------------------------------- the environment


def test_a_trial_finds_who_it_is_in_its_environment(world: Any) -> None:
    gang = gang_of(world, BASE + "hyperparameters: {lr: 0.1, net: {depth: 3}}\n")

    env = gang.env
    assert (env["DET_TRIAL_ID"], env["DET_EXPERIMENT_ID"], env["DET_TRIAL_RUN_ID"]) == ("1", "1", "1")
    assert json.loads(env["DET_HPARAMS"]) == {"lr": 0.1, "net": {"depth": 3}}
    assert env["DET_STEPS_COMPLETED"] == "0"
    assert "DET_LATEST_CHECKPOINT" not in env
    assert env["DET_TASK_TYPE"] == "TRIAL"
    assert env["DET_USER"] == "determined"
    assert env["DET_ALLOCATION_ID"] == gang.allocation_id == env["RESOLUTE_ALLOCATION_ID"]


def test_variables_of_the_user_are_there_and_never_win_over_the_platforms(world: Any) -> None:
    gang = gang_of(world, with_environment("{environment_variables: [A=1, B=x=y, EMPTY=, DET_TRIAL_ID=99]}"))

    assert (gang.env["A"], gang.env["B"], gang.env["EMPTY"], gang.env["DET_TRIAL_ID"]) == ("1", "x=y", "", "1")


def test_variables_and_image_are_those_of_the_kind_of_slot(world: Any) -> None:
    gang = gang_of(
        world,
        with_environment(
            "{environment_variables: {cpu: [ON=cpu], cuda: [ON=cuda]}, image: {cpu: plain, cuda: nvidia, rocm: amd}}"
        ),
    )

    assert gang.env["ON"] == "cpu"
    assert gang.environment.image == "plain"


def test_one_image_stands_for_every_kind_of_slot_and_none_for_no_container(world: Any) -> None:
    assert gang_of(world, with_environment("{image: any}")).environment.image == "any"
    assert gang_of(world).environment.image is None


def test_an_interpreter_is_handed_on(world: Any) -> None:
    assert gang_of(world, with_environment("{python: /opt/bin/python3}")).environment.python == "/opt/bin/python3"


def test_mounts_and_native_options_are_handed_on_and_silent_sections_are_not(world: Any) -> None:
    text = BASE + (
        "bind_mounts: [{host_path: /data, container_path: data, read_only: true}, {host_path: /b, container_path: b}]\n"
        "slurm: {gpu_type: a100}\n"
        "environment: {pod_spec: {spec: {priorityClassName: high}}}\n"
    )

    gang = gang_of(world, text)

    assert gang.bind_mounts == (("/data", "data", True), ("/b", "b", False))
    assert set(gang.native) == {"slurm", "pod_spec"}
    assert gang.native["slurm"] == {"slots_per_node": None, "gpu_type": "a100", "sbatch_args": []}
    assert gang_of(world).native == {}


# ---------------------------------------------------------------------------------------------------------- the files


def test_shared_storage_is_a_directory_where_the_trial_runs(world: Any) -> None:
    text = BASE + (
        "checkpoint_storage: {type: shared_fs, host_path: /mnt/share, storage_path: team, save_trial_best: 3}\n"
    )

    stored = json.loads(gang_of(world, text).env["DET_EXPERIMENT_CONFIG"])["checkpoint_storage"]

    assert stored == {
        "type": "directory",
        "container_path": "/mnt/share/team",
        "save_experiment_best": 0,
        "save_trial_best": 3,
        "save_trial_latest": 1,
    }


def test_a_bucket_is_told_as_it_is_with_its_keys(world: Any) -> None:
    text = BASE + "checkpoint_storage: {type: s3, bucket: b, access_key: me, secret_key: hush}\n"

    stored = json.loads(gang_of(world, text).env["DET_EXPERIMENT_CONFIG"])["checkpoint_storage"]

    assert (stored["bucket"], stored["access_key"], stored["secret_key"]) == ("b", "me", "hush")


def test_the_harness_finds_its_files(world: Any) -> None:
    gang = gang_of(world, BASE + "hyperparameters: {lr: 0.1}\ndebug: true\n")

    trial = json.loads(gang.files["info/trial.json"])

    assert (trial["trial_id"], trial["experiment_id"], trial["trial_run_id"], trial["debug"]) == (1, 1, 1, True)
    assert trial["hparams"] == {"lr": 0.1}
    assert trial["config"] == json.loads(gang.env["DET_EXPERIMENT_CONFIG"])
    cluster = json.loads(next(text for name, text in gang.files.items() if "trial" not in name and "res" not in name))
    assert cluster["allocation_id"] == gang.allocation_id
    assert cluster["session_token"] == gang.env["DET_SESSION_TOKEN"]


def test_the_next_run_starts_from_the_newest_checkpoint(world: Any) -> None:
    experiment = world.create(BASE + "max_restarts: 2\n")
    world.tick()
    (trial,) = world.trials(experiment.id)
    world.checkpoint(trial, 5)
    newest = world.checkpoint(trial, 9)
    world.finish(trial, 1)
    world.tick()

    gang = newest_gang(world, trial)

    assert gang.env["DET_LATEST_CHECKPOINT"] == newest
    assert (gang.env["DET_STEPS_COMPLETED"], gang.env["DET_TRIAL_RUN_ID"]) == ("9", "2")
    assert json.loads(gang.files["info/trial.json"])["steps_completed"] == 9


def test_the_uploaded_folder_is_named_by_its_content(world: Any) -> None:
    content = packed(train_py="print(1)")

    first, second = gang_of(world, context=content), gang_of(world, context=content)

    assert first.context_id == second.context_id
    assert first.context_id is not None
    assert gang_of(world).context_id is None


# ----------------------------------------------------------------------------------------------------------- packages


def requires(given: object, context: bytes | None = None) -> tuple[str, ...]:
    return required_packages(Environment.model_validate({"requirements": given}), context)


def test_packages_are_listed_or_stand_in_a_file_of_the_folder() -> None:
    text = "numpy==2.1  # arrays\n\n# nothing here\ntorch\n"

    assert requires(["a==1", "b"]) == ("a==1", "b")
    assert requires("reqs.txt", packed(reqs_txt=text)) == ("numpy==2.1", "torch")
    assert requires("./reqs.txt", packed(reqs_txt=text)) == ("numpy==2.1", "torch")
    assert required_packages(Environment(), None) == ()


@pytest.mark.parametrize("context", [None, packed(other_txt="a")])
def test_a_file_that_is_not_in_the_folder_is_refused_by_name(context: bytes | None) -> None:
    with pytest.raises(InvalidInput, match=r"there is no file 'reqs\.txt' in the uploaded folder; add it"):
        requires("reqs.txt", context)


@pytest.mark.parametrize("line", ["-r other.txt", "--requirement=x", "-c limits.txt", "--constraint y"])
def test_a_file_that_refers_to_another_is_refused(line: str) -> None:
    with pytest.raises(InvalidInput, match="put all requirements into one"):
        requires("reqs.txt", packed(reqs_txt=f"numpy\n{line}\n"))


def test_what_cannot_run_is_refused_before_anything_is_stored(world: Any) -> None:
    with pytest.raises(InvalidConfig, match="entrypoint: is missing; say what to run"):
        world.create("{name: x, searcher: {name: single, metric: loss}}")
    with pytest.raises(InvalidInput, match=r"there is no file 'reqs\.txt'"):
        world.create(with_environment("{requirements: reqs.txt}"))

    with world.platform.store.read() as tx:
        assert tx.jobs.in_queue() == []
        assert tx.tasks.search() == []
