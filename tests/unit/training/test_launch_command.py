"""The launcher's command line, its meeting point and the variables of each rank: values in, values out."""

import json
from pathlib import Path

import pytest

from resolute.domain.errors import InvalidInput
from resolute.training.launch.command import AskedForHelp, Rendezvous, parse_launch, rank_environment
from resolute.training.launch.meeting import find_rendezvous


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_text("")
    return str(path)


def test_a_script_keeps_its_own_arguments(script: str) -> None:
    request = parse_launch(["--nproc", "2", "--", script, "--lr", "0.1", "--nproc", "9"])

    assert request.nproc == 2
    assert request.command.target == script
    assert request.command.arguments == ("--lr", "0.1", "--nproc", "9")


@pytest.mark.parametrize("words", [["--nproc=2"], ["--nproc_per_node", "2"], ["--nproc-per-node=2"]])
def test_torchruns_spellings_work_too(script: str, words: list[str]) -> None:
    assert parse_launch([*words, script]).nproc == 2


def test_an_interpreter_before_the_script_is_passed_over(script: str) -> None:
    assert parse_launch(["--", "python3", script, "x"]).command.arguments == ("x",)


def test_a_module_is_run_as_a_module() -> None:
    command = parse_launch(["-m", "package.train", "--epochs", "3"]).command

    assert (command.target, command.is_module, command.arguments) == ("package.train", True, ("--epochs", "3"))


@pytest.mark.parametrize("words", [["--trial", "model_def:Net"], ["--", "--trial", "model_def:Net"]])
def test_a_trial_class_is_handed_to_the_trial_launcher(words: list[str]) -> None:
    command = parse_launch(words).command

    assert (command.target, command.arguments) == ("resolute.launch.trial", ("model_def:Net",))


def test_help_is_asked_for_by_name() -> None:
    with pytest.raises(AskedForHelp):
        parse_launch(["--help"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "No script was given"),
        (["nothing.py"], "There is no script 'nothing.py'"),
        (["--nproc"], "--nproc needs a value"),
        (["--nproc", "-1", "x.py"], "give a whole number"),
        (["--what", "x.py"], "Unknown option --what"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(words: list[str], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        parse_launch(words)


def test_ranks_get_the_variables_torchrun_sets() -> None:
    meeting = Rendezvous(addresses=("10.0.0.1", "10.0.0.2"), node_rank=1, slots=(4, 2), port=29400)

    env = rank_environment(meeting, 1, 0, {"NCCL_DEBUG": "INFO"})

    assert env["NCCL_DEBUG"] == "INFO"
    assert (env["MASTER_ADDR"], env["MASTER_PORT"]) == ("10.0.0.1", "29400")
    assert (env["RANK"], env["LOCAL_RANK"], env["WORLD_SIZE"], env["LOCAL_WORLD_SIZE"]) == ("5", "1", "6", "2")
    assert (env["GROUP_RANK"], env["GROUP_WORLD_SIZE"]) == ("1", "2")


def test_a_restart_meets_at_another_port_and_counts() -> None:
    first = rank_environment(Rendezvous(), 0, 0, {})
    second = rank_environment(Rendezvous(), 0, 1, {})

    assert first["MASTER_PORT"] != second["MASTER_PORT"]
    assert second["TORCHELASTIC_RESTART_COUNT"] == "1"


def test_one_host_runs_one_process_per_slot() -> None:
    meeting = find_rendezvous(None, {"DET_SLOT_IDS": "[3, 5]"})

    assert (meeting.world_size, meeting.addresses) == (2, ("127.0.0.1",))


def test_visible_gpus_are_the_slots_off_cluster() -> None:
    assert find_rendezvous(None, {"CUDA_VISIBLE_DEVICES": "0,1,2"}).world_size == 3


def test_several_hosts_meet_where_the_engine_says() -> None:
    facts = {"addresses": ["10.0.0.1", "10.0.0.2"], "rank": 1, "slots": [2, 2]}

    meeting = find_rendezvous(None, {"RESOLUTE_RENDEZVOUS": json.dumps(facts), "C10D_PORT": "31000"})

    assert (meeting.world_size, meeting.first_rank, meeting.port) == (4, 2, 31000)


def test_nproc_cannot_change_the_slots_of_several_hosts() -> None:
    facts = {"addresses": ["10.0.0.1", "10.0.0.2"], "rank": 0, "slots": [1, 1]}

    with pytest.raises(InvalidInput, match="cannot be used on several hosts"):
        find_rendezvous(2, {"RESOLUTE_RENDEZVOUS": json.dumps(facts)})
