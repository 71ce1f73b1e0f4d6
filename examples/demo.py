"""The demo: start the platform, go from raw imagery to a rolled-out detector, stay up to look around.

`make demo` runs this. Every line that starts with `$` is a command that can be typed as it stands. `--exit` ends after
the last step; `--home` keeps the data elsewhere.
"""

import argparse
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from ruamel.yaml import YAML

from resolute.client import Client
from resolute.client.experiment import Experiment

EXAMPLES = Path(__file__).parent
XVIEW = EXAMPLES / "xview"
CLASSES = ("Fixed-wing Aircraft", "Small Aircraft", "Cargo Plane")
console = Console(highlight=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--home", default=None)
    parser.add_argument("--exit", action="store_true", help="end after the last step")
    parser.add_argument("--batches", type=int, default=300, help="length of the detection training")
    arguments = parser.parse_args()
    home = arguments.home or tempfile.mkdtemp(prefix="resolute-demo-")
    url = f"http://127.0.0.1:{_port_near(arguments.port)}"
    os.environ["RESOLUTE_MASTER"] = url
    master = _start_master(url, home)
    try:
        with Client(url, user="determined", password="") as client:
            tour(client, Path(home) / "xview", arguments.batches)
        if not arguments.exit:
            _stay(url)
    except KeyboardInterrupt:
        pass
    finally:
        console.print("\nStopping the platform.")
        master.send_signal(signal.SIGTERM)
        master.wait(timeout=30)


def tour(client: Client, folder: Path, batches: int) -> None:
    began = time.perf_counter()
    _title("A plain PyTorch script crashes and goes on from its checkpoint")
    crashed = _run(client, EXAMPLES / "quickstart" / "crash.yaml")
    console.print(f"  Restarts: {sum(trial.restarts for trial in crashed.trials())}; nothing was lost.")
    _title("Raw imagery to tiles")
    prepare(folder)
    _title("A search that stops weak trials early")
    search = _run(client, XVIEW / "demo_search.yaml")
    _title("Training on two slots")
    training = _run(client, XVIEW / "demo_train.yaml", max_length={"batches": batches})
    best = training.top_checkpoint().uuid
    _title("How good is it?")
    tiles = folder / "tiles"
    labels = tiles / "val_160_01.json"
    resolute("evaluate", "--checkpoint", best, "--data", tiles / "val_images_160_01", "--annotations", labels)
    _title("From checkpoint to endpoint")
    roll_out(search.top_checkpoint().uuid, best, folder)
    console.print(f"\nAll of it took {time.perf_counter() - began:.0f} s.")


def prepare(folder: Path) -> None:
    raw, rgb, coco, tiles = (folder / name for name in ("raw", "rgb", "coco", "tiles"))
    images, geojson = raw / "train_images", raw / "xView_train.geojson"
    resolute("data", "synth", raw, "--images", 16, "--size", 800, "--objects", 60, "--classes", len(CLASSES))
    resolute("data", "rgb", "--input-dir", images, "--out-dir", rgb)
    resolute(
        *("data", "coco", "--train-images-dir", images, "--train-images-dir-rgb", rgb),
        *("--train-geojson-path", geojson, "--output-dir", coco),
    )
    for split in ("train", "val"):
        chosen = [part for name in CLASSES for part in ("--class", name)]
        resolute("data", "filter", coco / f"{split}.json", coco / f"{split}.json", *chosen)
    resolute(
        *("data", "tile", "--image-dir", rgb, "--train-dataset-json-path", coco / "train.json"),
        *("--output-train-dir", tiles, "--output-val-dir", tiles),
        *("--slice-size", 160, "--overlap-ratio", 0.1, "--min-area-ratio", 0.3),
    )
    resolute("dataset", "create", "xview-tiles", tiles, "--description", "160-pixel tiles of three classes")


def roll_out(first: str, second: str, folder: Path) -> None:
    """The short training is version 1, the long one version 2: it gets 30 % of the requests, then all."""
    resolute("model", "create", "planes")
    resolute("model", "register-version", "planes", first)
    resolute("model", "register-version", "planes", second)
    resolute("deploy", "create", "planes", "--model", "planes/1", "--wait")
    resolute("deploy", "canary", "planes", "--percent", 30, "--model", "planes/2", "--wait")
    resolute("deploy", "describe", "planes")
    resolute("deploy", "promote", "planes")
    resolute("model", "stage", "planes", 2, "production")
    picture = sorted((folder / "rgb").glob("*.png"))[0]
    resolute("predict", picture, "--deployment", "planes", "--slice-size", 160, "--out", folder / "predictions")


def resolute(*words: object) -> None:
    """Run a command as a user would type it."""
    command = [str(word) for word in words]
    console.print(f"[dim]$ resolute {escape(shlex.join(command))}[/dim]")
    done = subprocess.run([sys.executable, "-m", "resolute.cli.main", *command], text=True, capture_output=True)
    for line in done.stdout.strip().splitlines():
        console.print(f"  {line}", markup=False)
    if done.returncode:
        raise SystemExit(f"`resolute {command[0]}` ended with {done.returncode}: {done.stderr.strip()}")


def _title(text: str) -> None:
    console.print(f"\n[bold]{text}[/bold]")


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


def _run(client: Client, config: Path, **searcher: object) -> Experiment:
    """`searcher`: keys of that section to replace."""
    folder = os.path.relpath(config.parent)
    console.print(f"[dim]$ resolute experiment create {folder}/{config.name} {folder}[/dim]")
    values = YAML(typ="safe").load(config)
    values["searcher"].update(searcher)
    experiment = client.create_experiment(values, config.parent)
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
        "best": f"best {experiment.searcher_metric} {best:.4g}" if isinstance(best, int | float) else "",
    }


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
