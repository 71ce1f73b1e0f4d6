"""What a process cannot do any more once it is confined: tried, each from a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from resolute.serving.confinement.enter import Entered
from resolute.serving.confinement.policy import confinement_of

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
SCRIPT = """
import json, os, socket, subprocess, sys, threading
from resolute.serving.confinement.enter import enter
from resolute.serving.confinement.policy import Confinement
entered = enter(Confinement.of_json(sys.argv[1]))
try:
    result = eval(sys.argv[2])
except BaseException as problem:
    result = type(problem).__name__
print(json.dumps([str(result), entered.applied, entered.missing]))
"""


def tried(
    folder: Path, what: str, *, is_trusted: bool = False, memory_bytes: int = 0
) -> tuple[str, list[str], list[str]]:
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "weights").write_text("weights")
    (folder / "scratch").mkdir(exist_ok=True)
    (folder / "secret").write_text("secret")
    confinement = confinement_of(folder / "model", folder / "scratch", is_trusted=is_trusted, memory_bytes=memory_bytes)
    environment = {**os.environ, "DET_SESSION_TOKEN": "t", "RESOLUTE_MASTER": "m", "RESOLUTE_REVISION": "3", "OWN": "o"}
    command = [sys.executable, "-c", SCRIPT, confinement.to_json(), what.format(folder=folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    result, applied, missing = json.loads(done.stdout)
    if "files of the model and of Python only" not in applied and not is_trusted:
        pytest.skip(f"this kernel cannot: {missing}")
    return result, applied, missing


REFUSED = {
    "a file beside the model": "open('{folder}/secret').read()",
    "a file beside the model, through the model": "open('{folder}/model/../secret').read()",
    "a link out of its scratch folder": "[os.symlink('{folder}/secret', p := '{folder}/scratch/l'), open(p).read()]",
    "shadow passwords": "open('/etc/shadow').read()",
    "the user's home": "os.listdir(os.path.expanduser('~root'))",
    "another's temporary files": "open('/tmp/resolute-test-x', 'w')",
    "the model": "open('{folder}/model/weights', 'w')",
    "what its parent was started with": "open(f'/proc/{{os.getppid()}}/environ').read()",
    "its parent's memory": "open(f'/proc/{{os.getppid()}}/mem', 'rb').read(1)",
    "a signal to its parent": "os.kill(os.getppid(), 0)",
    "a connection": "socket.create_connection(('127.0.0.1', 1))",
    "a port": "socket.socket().bind(('127.0.0.1', 0))",
    "a port for the next version": "socket.socket(socket.AF_INET6).bind(('::1', 0))",
    "to write into another process": "open(f'/proc/{{os.getppid()}}/comm', 'w').write('x')",
    "raw packets": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "a socket file": "socket.socket(socket.AF_UNIX).connect('/run/docker.sock')",
    "an abstract socket": "socket.socket(socket.AF_UNIX).connect(chr(0) + 'x')",
    "to be somebody else": "os.setuid(1)",
    "a root of its own": "os.chroot('{folder}')",
}


@linux_only
@pytest.mark.parametrize("what", REFUSED.values(), ids=REFUSED.keys())
def test_it_cannot_have(tmp_path: Path, what: str) -> None:
    result, _, _ = tried(tmp_path, what)

    assert result == "PermissionError"


ALLOWED = {
    "the model": ("open('{folder}/model/weights').read()", "weights"),
    "its scratch folder": ("open('{folder}/scratch/x', 'w').write('four')", "4"),
    "a temporary file": ("__import__('tempfile').mkstemp()[1].startswith('{folder}/scratch')", "True"),
    "a home": ("os.path.expanduser('~') == '{folder}/scratch'", "True"),
    "another program": ("subprocess.run(['/bin/echo', 'hi'], capture_output=True).stdout.decode().strip()", "hi"),
    "the names of its threads": ("open('/proc/self/comm', 'w').write('model')", "5"),
    "a socket that nobody can connect to": (
        "[s := socket.socket(socket.AF_UNIX), s.bind(chr(0) + str(os.getpid()))][1]",
        "None",
    ),
    "threads": ("[t := threading.Thread(target=int), t.start(), t.join()][2]", "None"),
    "a pair of sockets": ("len(socket.socketpair())", "2"),
    "its own variables": ("os.environ['OWN'] + os.environ['RESOLUTE_REVISION']", "o3"),
    "no token of the platform": ("[n for n in os.environ if n in ('DET_SESSION_TOKEN', 'RESOLUTE_MASTER')]", "[]"),
    "packages": ("__import__('numpy').ones(3).sum() == 3", "True"),
}


@linux_only
@pytest.mark.parametrize(("what", "wanted"), ALLOWED.values(), ids=ALLOWED.keys())
def test_it_has(tmp_path: Path, what: str, wanted: str) -> None:
    assert tried(tmp_path, what)[0] == wanted


@linux_only
def test_what_it_starts_is_confined_too(tmp_path: Path) -> None:
    child = "import socket; socket.socket()"

    result, _, _ = tried(tmp_path, f"subprocess.run([sys.executable, '-c', {child!r}], capture_output=True).returncode")

    assert result == "1"


@linux_only
def test_memory_has_an_end(tmp_path: Path) -> None:
    assert tried(tmp_path, "len(bytearray(1 << 30))", memory_bytes=512 << 20)[0] == "MemoryError"
    assert tried(tmp_path, "len(bytearray(1 << 20))", memory_bytes=512 << 20)[0] == str(1 << 20)


@linux_only
def test_it_has_no_capability_and_gets_none(tmp_path: Path) -> None:
    lines = "[l.split()[1] for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapBnd', 'NoNewPrivs'))]"

    result, applied, _ = tried(tmp_path, lines)

    assert {"no new privileges", "no capabilities", "no network"} <= set(applied)
    assert result == "['0000000000000000', '0000000000000000', '1']" if os.getuid() == 0 else "'1'" in result


@linux_only
def test_who_is_trusted_keeps_files_and_network_and_gets_no_new_rights(tmp_path: Path) -> None:
    secret, applied, missing = tried(tmp_path, "open('{folder}/secret').read()", is_trusted=True)
    bound, _, _ = tried(tmp_path, "socket.socket().bind(('127.0.0.1', 0))", is_trusted=True)

    assert (secret, bound) == ("secret", "None")
    assert "no new privileges" in applied
    assert missing == ["files and network are left open (trusted)"]


def test_what_could_not_be_had_is_said() -> None:
    entered = Entered()

    def fail() -> None:
        raise OSError(38, "the kernel has no Landlock")

    entered.attempt("no network", lambda: None)
    entered.attempt("files of the model only", fail)

    assert str(entered) == (
        "The model process is confined: no network. "
        "Not to be had here: files of the model only ([Errno 38] the kernel has no Landlock)."
    )
