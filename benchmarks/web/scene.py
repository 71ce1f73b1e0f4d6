"""Fills a running master with what follows a training: tiles, detectors with evaluations, a model, a deployment.

    python -m benchmarks.web.scene URL FOLDER

Everything is really made: a synthetic set is tiled and registered, two trials store detectors with their evaluations,
both become versions of a model, and the first is deployed. Prints what it made as JSON.
"""

import argparse
import base64
import dataclasses
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from resolute import imagery
from resolute.client import Client

DETECTOR = Path(__file__).parents[2] / "tests/e2e/web/detector"
DATASET, MODEL, DEPLOYMENT = "xview-tiles", "tile-detector", "tiles"
SIDE, TILE, CLASSES = 512, 256, 12


@dataclass(frozen=True)
class Scene:
    dataset: str
    experiments: tuple[int, int]
    checkpoints: tuple[str, str]
    model: str
    deployment: str
    tiles: str
    picture: str
    """A tile to try the deployment with."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    print(json.dumps(dataclasses.asdict(arrange(arguments.url, arguments.folder))))


def arrange(url: str, folder: Path) -> Scene:
    tiles = make_tiles(folder)
    with Client(url, user="determined", password="") as client:
        client.datasets.create(DATASET, tiles, description=f"{TILE} px tiles of a synthetic set")
    server = Server(url)
    experiments = tuple(server.create(tiles, doubt) for doubt in (0.3, 0.1))
    checkpoints = tuple(server.checkpoint_of(experiment) for experiment in experiments)
    server.post("/models", {"name": MODEL, "description": "Finds aircraft, vehicles and buildings on tiles"})
    for uuid in checkpoints:
        server.post(f"/models/{MODEL}/versions", {"modelName": MODEL, "checkpointUuid": uuid})
    server.post("/deployments", {"name": DEPLOYMENT, "model": f"{MODEL}/1"})
    server.wait(lambda: server.deployment()["state"] == "STATE_READY", "the deployment")
    picture = str(sorted((tiles / f"val_images_{TILE}_02").glob("*.jpg"))[0])
    return Scene(DATASET, experiments, checkpoints, MODEL, DEPLOYMENT, str(tiles), picture)  # type: ignore[arg-type]


def make_tiles(folder: Path) -> Path:
    made = imagery.make_set(
        imagery.SynthJob(
            output_dir=folder / "raw", images=8, width=SIDE, height=SIDE, objects_per_image=24, classes=CLASSES
        )
    )
    labels = imagery.convert_labels(
        imagery.ConvertJob(images_dir=made.images_dir, geojson_path=made.geojson_path, output_dir=folder / "coco")
    )
    for path in (labels.train, labels.val):
        imagery.tile_set(
            imagery.TileJob(
                image_dir=made.images_dir,
                labels_path=path,
                output_dir=folder / "tiles",
                slice_size=TILE,
                overlap_ratio=0.2,
                min_area_ratio=0.3,
            )
        )
    return folder / "tiles"


class Server:
    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=f"{url}/api/v1", timeout=60)
        token = self.post("/auth/login", {"username": "determined", "password": ""})["token"]
        self._http.headers["Authorization"] = f"Bearer {token}"

    def post(self, path: str, body: Any) -> Any:
        return self._http.post(path, json=body).raise_for_status().json()

    def get(self, path: str) -> Any:
        return self._http.get(path).raise_for_status().json()

    def delete(self, path: str) -> None:
        self._http.delete(path).raise_for_status()

    def deployment(self) -> Any:
        return self.get(f"/deployments/{DEPLOYMENT}")["deployment"]

    def create(self, tiles: Path, doubt: float) -> int:
        config = (DETECTOR / "detect.yaml").read_text()
        config = config.replace("TILES", str(tiles)).replace("doubt: 0.2", f"doubt: {doubt}")
        content = base64.b64encode((DETECTOR / "detect.py").read_bytes()).decode()
        file = {"path": "detect.py", "type": 48, "content": content, "mtime": "0", "mode": 33188, "uid": 0, "gid": 0}
        body = {"config": config, "modelDefinition": [file], "activate": True}
        return int(self.post("/experiments", body)["experiment"]["id"])

    def checkpoint_of(self, experiment: int) -> str:
        self.wait(lambda: self.get(f"/experiments/{experiment}")["experiment"]["endTime"], f"experiment {experiment}")
        return str(self.get(f"/experiments/{experiment}/checkpoints")["checkpoints"][0]["uuid"])

    def wait(self, is_so: Any, what: str, timeout_s: float = 120) -> None:
        ends_at = time.monotonic() + timeout_s
        while not is_so():
            if time.monotonic() > ends_at:
                raise SystemExit(f"{what} is not done after {timeout_s:.0f} s")
            time.sleep(0.1)


if __name__ == "__main__":
    main()
