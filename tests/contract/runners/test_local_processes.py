"""The local runner against real processes: output, signals, kills, and masters that die."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.errors import EnvironmentFailed, InvalidInput
from resolute.domain.gang import Phase
from resolute.domain.log import HEADER_LENGTH, LogLevel, LogStream
from resolute.engine.ports.runner import EnvironmentSpec
from resolute.runners.local import LocalRunner
from resolute.runners.shepherd.run_directory import RunDirectory

MASTER = """
import pathlib, sys
from resolute.domain.allocation import NodeShare
from resolute.engine.ports.runner import Gang, NodePart
from resolute.runners.local import LocalRunner
home = pathlib.Path(sys.argv[1])
runner = LocalRunner(home=home, slots=2, node_id="here", warm=False)
runner.start(Gang(allocation_id="a.1", task_id="a", run_id=1, nodes=(NodePart(share=NodeShare("here", (0,))),), env={},
                  entrypoint="echo alive; while [ ! -e go ]; do sleep 0.02; done; echo done; exit 7",
                  log_path=str(home / "a.log")))
print("started", flush=True)
sys.stdin.read()
"""


def test_a_trial_does_not_notice_that_its_master_was_killed(bench: Any, tmp_path: Path) -> None:
    master = subprocess.Popen(
        [sys.executable, "-c", MASTER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert master.stdout is not None
    master.stdout.readline()
    gang = bench.gang("a", "")
    bench.until_said(gang, "alive")

    master.kill()
    master.communicate()
    successor = LocalRunner(home=tmp_path, slots=2, node_id="here", warm=False)

    assert successor.running() == ["a.1"]
    (tmp_path / "runs/a.1/work/go").touch()
    assert bench.end(successor, "a.1").exit_code == 7
    assert bench.text(gang) == "alive\ndone"


def test_output_is_live_and_carries_stream_level_and_rank(bench: Any, cold: LocalRunner) -> None:
    script = "echo 'plain'; echo '[rank=3] from three'; echo 'WARNING: careful' >&2; sleep 600"
    gang = bench.gang("a", script)

    handle = cold.start(gang)
    bench.until_said(gang, "careful")
    bench.until_said(gang, "three")

    seen = {(line.text, line.rank, line.stream, line.level) for line in bench.lines(gang)}
    assert seen == {
        ("plain", 0, LogStream.STDOUT, LogLevel.INFO),
        ("from three", 3, LogStream.STDOUT, LogLevel.INFO),
        ("WARNING: careful", 0, LogStream.STDERR, LogLevel.WARNING),
    }
    cold.stop(handle, force=True)


def test_the_entrypoint_runs_in_the_unpacked_model_definition(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", "cat model/def.txt", context_files={"model/def.txt": "weights\n"})

    status = bench.run(cold, gang)

    assert (status.exit_code, bench.text(gang)) == (0, "weights")


def test_a_list_is_executed_without_a_shell(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", ("printf", "%s\n", "$HOME; exit 1"))

    status = bench.run(cold, gang)

    assert (status.exit_code, bench.text(gang)) == (0, "$HOME; exit 1")


def test_a_command_that_does_not_exist_ends_with_a_sentence(bench: Any, cold: LocalRunner) -> None:
    status = bench.run(cold, bench.gang("a", ("no-such-program", "x")))

    assert (status.exit_code, status.is_final) == (127, True)
    assert "no-such-program" in status.reason


def test_the_startup_hook_runs_first_and_in_the_same_place(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", "cat made", context_files={"startup-hook.sh": "echo hook; echo by-hook > made\n"})

    status = bench.run(cold, gang)

    assert (status.exit_code, bench.text(gang)) == (0, "hook\nby-hook")


def test_what_the_startup_hook_exports_counts(bench: Any, cold: LocalRunner) -> None:
    hook = "[[ -n $BASH_VERSION ]] && export GREETING=$'hello\\nyou' PATH=$PWD/tools:$PATH\n"
    files = {"startup-hook.sh": hook, "tools/greet": '#!/bin/sh\nprintf %s "$GREETING"\n'}
    gang = bench.gang("a", "chmod +x tools/greet; greet", context_files=files)

    status = bench.run(cold, gang)

    assert (status.exit_code, bench.text(gang)) == (0, "hello\nyou")


def test_a_startup_hook_stops_at_its_first_failing_command(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", "echo never", context_files={"startup-hook.sh": "false\necho neither\n"})

    status = bench.run(cold, gang)

    assert status.exit_code == 1
    assert "neither" not in bench.text(gang)


def test_a_startup_hook_installs_for_its_own_run_alone(bench: Any, cold: LocalRunner) -> None:
    hook = "test $(command -v pip) = $VIRTUAL_ENV/bin/pip\npip --version\necho 'A = 1' > $(python3 -c '%s')/hooked.py\n"
    where = 'import sysconfig; print(sysconfig.get_path("purelib"))'
    files = {"startup-hook.sh": hook % where}
    gang = bench.gang("a", "python3 -c 'import hooked, sqlalchemy; print(hooked.__file__)'", context_files=files)

    status = bench.run(cold, gang)

    installed = bench.text(gang).splitlines()[-1]
    assert status.exit_code == 0, bench.text(gang)
    assert "/layer/" in installed
    assert importlib.util.find_spec("hooked") is None


def test_a_failing_startup_hook_keeps_the_entrypoint_from_running(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", "echo never", context_files={"startup-hook.sh": "exit 9\n"})

    status = bench.run(cold, gang)

    assert status.exit_code == 9
    assert status.reason == "startup-hook.sh ended with exit code 9; the entrypoint was not run."
    assert bench.text(gang) == status.reason


def test_a_killed_trial_ends_by_its_signal(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", "exec python3 -c 'import os; print(os.getpid(), flush=True); input()' < /dev/zero")
    handle = cold.start(gang)
    bench.until(lambda: bench.text(gang))

    os.kill(int(bench.text(gang)), signal.SIGKILL)
    status = bench.end(cold, handle)

    assert (status.exit_code, status.reason) == (137, "The entrypoint was ended by SIGKILL.")


def test_nothing_that_a_trial_started_outlives_it(bench: Any, cold: LocalRunner) -> None:
    escaping = "import subprocess as s; p = s.Popen(['sleep', '600'], start_new_session=True); print(p.pid)"
    gang = bench.gang("a", f'python3 -c "{escaping}"')

    bench.run(cold, gang)

    bench.until(lambda: _is_gone(int(bench.text(gang))))


def test_force_also_kills_what_ignores_a_polite_request(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", "trap '' TERM; echo ready; while true; do sleep 0.05; done")
    handle = cold.start(gang)
    bench.until_said(gang, "ready")

    cold.stop(handle, force=False)
    still = cold.poll([handle])[handle].exit_code
    cold.stop(handle, force=True)

    assert still is None
    assert bench.end(cold, handle).exit_code == 137


def test_a_trial_may_answer_sigterm_with_an_exit_code_of_its_own(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", "trap 'echo saved; exit 0' TERM; echo ready; while true; do sleep 0.05; done")
    handle = cold.start(gang)
    bench.until_said(gang, "ready")

    cold.stop(handle, force=False)

    assert bench.end(cold, handle).exit_code == 0
    said = bench.text(gang).splitlines()
    assert [line for line in said if line != "Terminated"][:2] == [
        "ready",
        "saved",
    ]  # a shell tells of its `sleep`, too


def test_a_gang_whose_shepherd_was_killed_is_lost_and_leaves_nothing_running(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", "echo $$; exec sleep 600")
    handle = cold.start(gang)
    bench.until(lambda: bench.text(gang))
    shepherd = json.loads((bench.home / "runs/a.1/shepherd.json").read_text())

    os.kill(shepherd["pid"], signal.SIGKILL)
    bench.until(lambda: cold.poll([handle])[handle].is_lost)

    bench.until(lambda: _is_gone(int(bench.text(gang))))
    assert cold.running() == []


def test_a_recycled_pid_is_not_taken_for_the_shepherd(bench: Any, cold: LocalRunner) -> None:
    directory = bench.home / "runs/a.1"
    directory.mkdir(parents=True)
    (directory / "shepherd.json").write_text(json.dumps({"pid": os.getpid(), "started": "another-boot/1"}))

    cold.stop("a.1", force=True)

    assert cold.running() == []
    assert cold.poll(["a.1"])["a.1"].is_lost


def test_racing_starts_start_one_process(bench: Any, tmp_path: Path) -> None:
    runners = [LocalRunner(home=tmp_path, slots=2, node_id="here", warm=False) for _ in range(4)]
    gang = bench.gang("a", "echo once; sleep 0.2")
    barrier = threading.Barrier(len(runners))

    def start(runner: LocalRunner) -> None:
        barrier.wait()
        runner.start(gang)

    threads = [threading.Thread(target=start, args=(runner,)) for runner in runners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {bench.end(runner, "a.1").exit_code for runner in runners} == {0}
    assert bench.text(gang) == "once"


def test_a_gang_that_never_got_its_process_cannot_start_behind_our_back(bench: Any, cold: LocalRunner) -> None:
    directory = bench.home / "runs/a.1"
    directory.mkdir(parents=True)
    (directory / "request.json").write_text("{}")

    status = cold.poll(["a.1"])["a.1"]
    cold.start(bench.gang("a", "echo too late"))

    assert status.is_lost
    assert cold.poll(["a.1"])["a.1"].is_lost


def test_forgetting_removes_the_files_of_ended_gangs_only(bench: Any, cold: LocalRunner) -> None:
    bench.run(cold, bench.gang("over", "true"))
    handle = cold.start(bench.gang("live", "sleep 600"))

    cold.forget("over.1")
    cold.forget(handle)

    assert sorted(path.name for path in (bench.home / "runs").iterdir()) == ["live.1"]


def test_an_id_with_slashes_and_dots_stays_inside_the_home(bench: Any, cold: LocalRunner) -> None:
    bench.run(cold, bench.gang("../../../tmp/evil", "true", log_path=""))

    assert [path.name for path in (bench.home / "runs").iterdir()] == ["%2E.%2F..%2F..%2Ftmp%2Fevil.1"]
    assert cold.poll(["../../../tmp/evil.1"])["../../../tmp/evil.1"].exit_code == 0


def test_the_environment_of_a_trial_is_the_masters_without_its_secrets_and_the_gangs(
    bench: Any, cold: LocalRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESOLUTE_TOKEN", "of-the-master")
    monkeypatch.setenv("AWS_REGION", "eu-1")
    gang = bench.gang("a", "env", env={"DET_TRIAL_ID": "5", "OMP_NUM_THREADS": "7"})

    bench.run(cold, gang)

    seen = dict(line.partition("=")[::2] for line in bench.text(gang).splitlines())
    assert (seen["DET_TRIAL_ID"], seen["OMP_NUM_THREADS"], seen["AWS_REGION"]) == ("5", "7", "eu-1")
    assert "RESOLUTE_TOKEN" not in seen
    assert seen["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)


def test_a_hostile_model_definition_ends_the_gang_with_a_sentence(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", "echo never", context_files={"../escaped": "x"})

    status = bench.run(cold, gang)

    assert (status.exit_code, status.is_final) == (125, True)
    assert "'../escaped' leads out of the archive" in status.reason
    assert bench.text(gang) == status.reason
    assert not (bench.home / "runs/a.1/escaped").exists()


def test_an_interpreter_that_is_not_there_is_refused_before_anything_is_created(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", "true", environment=EnvironmentSpec(python="/no/such/python"))

    with pytest.raises(EnvironmentFailed, match="'/no/such/python', which is no executable file"):
        cold.start(gang)

    assert list((bench.home / "runs").iterdir()) == []


def test_something_that_is_no_interpreter_is_refused(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", "true", environment=EnvironmentSpec(python="/bin/cat"))

    with pytest.raises(EnvironmentFailed, match="does not answer as Python does"):
        cold.start(gang)


def test_a_gang_of_two_nodes_is_refused(bench: Any, cold: LocalRunner) -> None:
    gang = bench.gang("a", "true")

    with pytest.raises(InvalidInput, match="spans 2 nodes"):
        cold.start(bench.gang("a", "true", nodes=gang.nodes * 2))


def test_the_token_does_not_stay_on_disk_in_the_request(bench: Any, cold: LocalRunner) -> None:
    bench.run(cold, bench.gang("a", "true", env={"DET_SESSION_TOKEN": "v2.secret"}))

    contents = [path.read_text() for path in (bench.home / "runs/a.1").iterdir() if path.is_file()]
    assert not any("v2.secret" in content for content in contents)


def test_a_flood_of_output_arrives_whole_and_in_order(bench: Any, cold: LocalRunner) -> None:
    count = 300_000
    gang = bench.gang("a", f"seq 1 {count}")

    bench.run(cold, gang)

    records = Path(gang.log_path).read_bytes().splitlines()
    assert b"\n".join(record[HEADER_LENGTH:] for record in records) == b"\n".join(
        b"%d" % n for n in range(1, count + 1)
    )


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_an_image_that_is_not_used_is_said_to_be_unused(bench: Any, cold: LocalRunner) -> None:
    native = {"slurm": {"sbatch_args": ["-N2"]}}
    gang = bench.gang("a", "true", environment=EnvironmentSpec(image="python:3.12"), native=native)

    bench.run(cold, gang)

    assert "environment.image python:3.12 is not used: there are no containers here." in bench.text(gang)
    assert "Options for other engines are not used here: slurm." in bench.text(gang)


def test_a_model_definition_is_read_once_for_all_runs_of_it(bench: Any, tmp_path: Path) -> None:
    context_id = bench.keep({"x.txt": "code"})
    content = (tmp_path / "contexts" / f"{context_id}.tar.gz").read_bytes()
    reads: list[str] = []

    def read_code(wanted: str) -> bytes:
        reads.append(wanted)
        return content

    runner = LocalRunner(home=tmp_path / "other", slots=2, warm=False, read_code=read_code)
    gangs = [bench.gang(name, "cat x.txt", context_id=context_id) for name in "ab"]

    codes = [bench.run(runner, gang).exit_code for gang in gangs]

    assert (codes, reads) == ([0, 0], [context_id])
    assert [bench.text(gang) for gang in gangs] == ["code", "code"]


def test_a_gang_whose_environment_is_being_built_is_pulling(bench: Any, cold: LocalRunner, tmp_path: Path) -> None:
    run = cold.start(bench.gang("a", f"touch {tmp_path}/running; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done"))
    bench.until((tmp_path / "running").exists)
    directory = RunDirectory(tmp_path / "runs" / run)

    running = cold.poll([run])[run].phase
    directory.note_phase(Phase.PULLING)
    pulling = cold.poll([run])[run].phase
    directory.note_phase(Phase.STARTING)
    (tmp_path / "go").touch()

    assert (running, pulling) == (Phase.RUNNING, Phase.PULLING)
    assert bench.end(cold, run).phase is Phase.ENDED


def test_a_sweep_forgets_runs_of_earlier_masters_that_have_ended_and_leaves_the_others(
    bench: Any, cold: LocalRunner
) -> None:
    bench.run(cold, bench.gang("ended", "true"))
    bench.run(cold, bench.gang("known", "true"))
    cold.start(bench.gang("running", "sleep 600"))
    bench.until(lambda: cold.poll(["running.1"])["running.1"].phase is Phase.RUNNING)

    gone = cold.sweep({"known.1"})

    assert gone == 1
    assert sorted(path.name for path in (bench.home / "runs").iterdir()) == ["known.1", "running.1"]
    assert cold.running() == ["running.1"]
