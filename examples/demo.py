"""The demo: start the platform, run the examples as experiments, show what came out, stay up to look around.

`make demo` runs this. `--exit` ends after the last experiment; `--home` keeps the data elsewhere.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from resolute.client import Client
from resolute.client.experiment import Experiment

EXAMPLES = Path(__file__).parent
STEPS = [
    ("A plain PyTorch script", "quickstart", "const.yaml"),
    ("A trial that crashes and goes on from its checkpoint", "quickstart", "crash.yaml"),
    ("A search that stops weak trials early", "quickstart", "search.yaml"),
]
console = Console()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--home", default=None)
    parser.add_argument("--exit", action="store_true", help="end after the last experiment")
    arguments = parser.parse_args()
    home = arguments.home or tempfile.mkdtemp(prefix="resolute-demo-")
    url = f"http://127.0.0.1:{_port_near(arguments.port)}"
    master = _start_master(url, home)
    try:
        with Client(url, user="determined", password="") as client:
            experiments = [_run(client, *step) for step in STEPS]
            _show(client, experiments, url)
        if not arguments.exit:
            _stay(url)
    except KeyboardInterrupt:
        pass
    finally:
        console.print("\nStopping the platform.")
        master.send_signal(signal.SIGTERM)
        master.wait(timeout=30)


def _start_master(url: str, home: str) -> subprocess.Popen[bytes]:
    began = time.perf_counter()
    command = [sys.executable, "-m", "resolute.cli.main", "up", "--port", url.rpartition(":")[2], "--home", home]
    master = subprocess.Popen([*command, "--slots", "2"], stdout=subprocess.DEVNULL, env=os.environ)
    while True:
        try:
            urllib.request.urlopen(f"{url}/info", timeout=1).close()
            break
        except OSError:
            if master.poll() is not None:
                raise SystemExit("The platform did not start; run `resolute up` to see why.") from None
            time.sleep(0.02)
    console.print(f"Platform ready at [bold]{url}[/bold] after {time.perf_counter() - began:.1f} s (data in {home}).\n")
    return master


def _run(client: Client, title: str, folder: str, config: str) -> Experiment:
    experiment = client.create_experiment(EXAMPLES / folder / config, EXAMPLES / folder)
    console.print(f"[bold]{title}[/bold]: experiment {experiment.id} ({folder}/{config})")
    columns = (TextColumn("  {task.description}"), BarColumn(), TextColumn("{task.fields[best]}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("starting", total=1.0, best="")
        while not experiment.reload().is_finished:
            progress.update(bar, **_progress(experiment))
            time.sleep(0.2)
        progress.update(bar, **{**_progress(experiment), "completed": 1.0})
    if experiment.state != "COMPLETED":
        raise SystemExit(
            f"Experiment {experiment.id} ended as {experiment.state}; see `resolute e logs {experiment.id}`."
        )
    return experiment


def _progress(experiment: Experiment) -> dict[str, object]:
    best = experiment.data.get("bestTrialSearcherMetric")
    return {
        "description": f"{experiment.data.get('numTrials', 0)} trials, {experiment.state.lower()}",
        "completed": experiment.progress,
        "best": f"best {experiment.searcher_metric} {best:.4g}" if isinstance(best, float) else "",
    }


def _show(client: Client, experiments: list[Experiment], url: str) -> None:
    restarted = [trial for trial in experiments[1].trials() if trial.restarts]
    console.print(
        f"\nRestarts after the crash: {sum(trial.restarts for trial in restarted)}; it went on from its checkpoint."
    )
    search = experiments[-1]
    checkpoint = search.top_checkpoint()
    console.print(f"Best checkpoint of the search: [bold]{checkpoint.uuid}[/bold]")
    console.print(f"  resolute -m {url} checkpoint download {checkpoint.uuid}")
    console.print(f"  resolute -m {url} experiment describe {search.id}")


def _stay(url: str) -> None:
    console.print(f"\nLook around at [bold]{url}[/bold] (user determined, empty password). Ctrl-C ends it.")
    while True:
        time.sleep(3600)


def _port_near(wanted: int) -> int:
    """The port asked for, or a free one when somebody listens there."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise SystemExit("No free port on 127.0.0.1.")


if __name__ == "__main__":
    main()
