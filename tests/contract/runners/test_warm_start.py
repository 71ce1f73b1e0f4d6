"""Trials forked from a warm process: user code must not be able to tell, except by the clock."""

import os
import re
import signal
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from resolute.runners.local import LocalRunner

Warm = tuple[LocalRunner, Any]

FACTS = """
import json, os, random, signal, sys, threading
HIDDEN = ("_", "PWD", "OLDPWD", "SHLVL", "RESOLUTE_RUN_MARK")
print(json.dumps({
    "argv": sys.argv, "path": sys.path, "cwd": os.getcwd(), "name": __name__, "file": __file__,
    "package": __package__, "spec": getattr(__spec__, "name", None), "globals": sorted(globals()),
    "executable": sys.executable, "prefix": sys.prefix, "flags": str(sys.flags),
    "main": sys.modules["__main__"].__file__,
    "sigterm": str(signal.getsignal(signal.SIGTERM)), "sigint": str(signal.getsignal(signal.SIGINT)),
    "sigchld": str(signal.getsignal(signal.SIGCHLD)), "mask": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "threads": threading.active_count(), "stdin": sys.stdin.read(), "leads_session": os.getsid(0) == os.getpid(),
    "env": {k: v for k, v in sorted(os.environ.items()) if k not in HIDDEN},
    "encodings": [sys.stdout.encoding, sys.stderr.errors, sys.stdin.encoding],
    "descriptors": len(os.listdir("/proc/self/fd")), "bytecode": sys.dont_write_bytecode,
}, indent=1))
"""


@pytest.fixture
def unique(request: pytest.FixtureRequest) -> str:
    return re.sub(r"\W+", "-", request.node.name)


@pytest.mark.parametrize("entrypoint", ["python3 facts.py --lr 0.1 'two words'", "python3 -m pkg.facts --lr 0.1"])
def test_a_warm_trial_sees_what_a_fresh_interpreter_sees(warm_bench: Warm, unique: str, entrypoint: str) -> None:
    runner, bench = warm_bench
    files = {"facts.py": FACTS, "pkg/__init__.py": "", "pkg/facts.py": FACTS}
    env = {"EPOCHS": "3", "PYTHONPATH": "/somewhere/else"}
    warm = bench.gang(f"{unique}-a", entrypoint, context_files=files, env=env)
    fresh = bench.gang(f"{unique}-b", f"exec {entrypoint} $NOTHING", context_files=files, env=env)

    statuses = [bench.run(runner, gang).exit_code for gang in (warm, fresh)]

    assert statuses == [0, 0], bench.text(warm) + bench.text(fresh)
    assert bench.text(warm).replace(f"{unique}-a", "X") == bench.text(fresh).replace(f"{unique}-b", "X")


ENDINGS = {
    "returns": "print('fine')",
    "exits with a number": "import sys; sys.exit(3)",
    "exits with a large number": "import sys; sys.exit(300)",
    "exits with a sentence": "import sys; sys.exit('no data')",
    "exits with nothing": "raise SystemExit",
    "raises": "def f():\n    raise ValueError('bad loss')\nf()",
    "raises from": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise RuntimeError('again') from e",
    "does not compile": "def f(:\n    pass",
    "imports what is not there": "import no_such_module",
    "is interrupted": "raise KeyboardInterrupt",
    "dies by a signal": "import os, signal; os.kill(os.getpid(), signal.SIGABRT)",
    "leaves by the back door": "import os; os._exit(5)",
    "has an exit handler": "import atexit; atexit.register(print, 'bye'); print('work')",
    "leaves a thread": "from threading import Timer; Timer(0.2, print, ['late']).start()",
    "leaves a file open": "f = open('out.txt', 'w'); f.write('kept')\nimport atexit, subprocess\n",
    "has a destructor": "class A:\n    def __del__(self): print('gone')\na = A()",
    "has a finalizer": "import weakref\nclass A: pass\na = A(); weakref.finalize(a, print, 'finalized')",
    "has an exception hook": "import sys; sys.excepthook = lambda *e: print('hooked', e[1]); raise ValueError(1)",
    "prints without a newline": "print('half', end='')",
    "prints what is not text": "import sys; sys.stdout.buffer.write(b'\\xff\\xfe raw\\n')",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_warm_trial_ends_like_a_fresh_interpreter(warm_bench: Warm, unique: str, ending: str) -> None:
    runner, bench = warm_bench
    files = {"train.py": ENDINGS[ending]}
    warm = bench.gang(f"{unique}-a", "python3 train.py", context_files=files)
    fresh = bench.gang(f"{unique}-b", "exec python3 train.py $NOTHING", context_files=files)

    codes = [bench.run(runner, gang).exit_code for gang in (warm, fresh)]

    assert codes[0] == codes[1]
    assert bench.text(warm).replace(f"{unique}-a", "X") == bench.text(fresh).replace(f"{unique}-b", "X")
    outputs = [bench.home / f"runs/{gang.allocation_id}/work/out.txt" for gang in (warm, fresh)]
    assert [path.exists() and path.read_text() for path in outputs] == (
        ["kept"] * 2 if "open" in ending else [False] * 2
    )


def test_tracebacks_of_modules_are_the_same_too(warm_bench: Warm, unique: str) -> None:
    runner, bench = warm_bench
    files = {"pkg/__init__.py": "", "pkg/train.py": "raise ValueError('bad')"}
    warm = bench.gang(f"{unique}-a", "python3 -m pkg.train", context_files=files)
    fresh = bench.gang(f"{unique}-b", "exec python3 -m pkg.train $NOTHING", context_files=files)

    for gang in (warm, fresh):
        assert bench.run(runner, gang).exit_code == 1

    assert bench.text(warm).replace(f"{unique}-a", "X") == bench.text(fresh).replace(f"{unique}-b", "X")


def test_user_code_runs_within_milliseconds_with_torch_loaded(warm_bench: Warm, unique: str) -> None:
    runner, bench = warm_bench
    script = "import time; now = time.time(); import sys; print(now, 'torch' in sys.modules)"
    delays = []
    for number in range(5):
        gang = bench.gang(f"{unique}-{number}", "python3 t.py", context_files={"t.py": script})
        began = time.time()
        bench.run(runner, gang)
        first_line, is_loaded = bench.text(gang).split()
        delays.append(float(first_line) - began)

    assert is_loaded == "True"
    # 20 ms on a quiet machine. The bound only tells a fork from an import of torch, which takes seconds.
    assert min(delays) < 0.5


def test_unseeded_generators_draw_different_numbers_in_each_trial_and_seeded_ones_the_same(
    warm_bench: Warm, unique: str
) -> None:
    runner, bench = warm_bench
    draw = """
        import torch, numpy, random
        print(torch.rand(1).item(), numpy.random.rand(), random.random())
        torch.manual_seed(1), numpy.random.seed(1), random.seed(1)
        print(torch.rand(1).item(), numpy.random.rand(), random.random())
    """
    files = {"t.py": textwrap.dedent(draw)}
    gangs = [bench.gang(f"{unique}-{n}", "python3 t.py", context_files=files) for n in (1, 2)]
    gangs.append(bench.gang(f"{unique}-3", "python3 t.py; true", context_files=files))

    for gang in gangs:
        bench.run(runner, gang)

    unseeded, seeded = zip(*(bench.text(gang).splitlines() for gang in gangs), strict=True)
    assert [len(set(column)) for column in zip(*(line.split() for line in unseeded), strict=True)] == [3, 3, 3]
    assert len(set(seeded)) == 1


TRAINING = """
import os, torch, multiprocessing
from torch.utils.data import DataLoader, TensorDataset

def square(x):
    return x * x

if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.Adam(model.parameters())
    data = TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
    for context in ("fork", "spawn"):
        for x, y in DataLoader(data, batch_size=16, num_workers=2, multiprocessing_context=context):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print("pool", pool.map(square, [1, 2, 3]))
    print("threads", torch.get_num_threads())
    a = torch.randn(400, 400)
    print("loss", loss.item(), (a @ a).shape)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_a_warm_trial_trains_with_worker_processes_and_threads(warm_bench: Warm, unique: str, threads: int) -> None:
    runner, bench = warm_bench
    env = {"OMP_NUM_THREADS": str(threads)}
    gang = bench.gang(unique, "python3 train.py", context_files={"train.py": TRAINING}, env=env)

    status = bench.run(runner, gang)

    assert status.exit_code == 0, bench.text(gang)
    assert "pool [1, 4, 9]" in bench.text(gang)
    assert f"threads {threads}" in bench.text(gang)


def test_a_warm_trial_can_be_stopped_and_handles_sigterm_itself(warm_bench: Warm, unique: str) -> None:
    runner, bench = warm_bench
    script = textwrap.dedent("""
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(21))
        print("ready")
        time.sleep(600)
    """)
    gang = bench.gang(unique, "python3 t.py", context_files={"t.py": script})
    handle = runner.start(gang)
    bench.until_said(gang, "ready")

    runner.stop(handle, force=False)

    assert bench.end(runner, handle).exit_code == 21


def test_settings_that_libraries_read_while_loading_get_a_fresh_interpreter(warm_bench: Warm, unique: str) -> None:
    runner, bench = warm_bench
    script = "import sys; print(hash('a'), 'torch' in sys.modules)"
    env = {"PYTHONHASHSEED": "1"}
    gangs = [bench.gang(f"{unique}-{n}", "python3 t.py", context_files={"t.py": script}, env=env) for n in (1, 2)]

    for gang in gangs:
        bench.run(runner, gang)

    assert bench.text(gangs[0]) == bench.text(gangs[1])
    assert bench.text(gangs[0]).endswith("False")


def test_trials_outlive_their_zygote_and_later_ones_start_without_it(bench: Any, tmp_path: Path) -> None:
    python = sys.executable
    runner = LocalRunner(home=tmp_path, slots=2, node_id="here")
    bench.until(lambda: runner.is_warm(python))
    script = "import os, time; print('up')\nwhile not os.path.exists('go'): time.sleep(0.02)\nraise SystemExit(4)"
    before = bench.gang("before", "python3 t.py", context_files={"t.py": script})
    handle = runner.start(before)
    bench.until_said(before, "up")

    os.kill(_zygote_pid(), signal.SIGKILL)
    after = bench.run(runner, bench.gang("after", "exit 6"))
    (tmp_path / "runs/before.1/work/go").touch()

    assert after.exit_code == 6
    assert bench.end(runner, handle).exit_code == 4
    runner.close(stop_gangs=True)


def test_a_zygote_goes_with_its_master(bench: Any, tmp_path: Path) -> None:
    runner = LocalRunner(home=tmp_path, slots=2, node_id="here")
    pid = _zygote_pid()

    runner.close(stop_gangs=False)

    assert not Path(f"/proc/{pid}").exists()


def _zygote_pid() -> int:
    """The newest one: those of session fixtures are older."""
    alive = [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
    zygotes = [child for child in alive if "serve" in child.cmdline()]
    return max(zygotes, key=lambda child: child.create_time()).pid
