"""`resolute predict` and `resolute evaluate` with a detector that needs no model, against a master in memory."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np
import pytest
import rasterio

from resolute.cli.main import run
from resolute.imagery.preprocessing import Origin, Preprocessing
from resolute.vision.fake import FakeDetector
from resolute.vision.prediction import expand_images


@dataclass
class Outcome:
    code: int
    out: str
    err: str


Resolute = Callable[..., Outcome]


class Serving:
    """A deployment `colours` that runs the fake detector, and a registry with one model."""

    def __init__(self) -> None:
        self.instances: list[int] = []
        self.answer: Any = None
        self.described: dict[str, Any] | None = None

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/api/v1/auth/login":
            return httpx.Response(200, json={"token": "t"})
        if request.url.path == "/serving/colours/v1/models/colours:predict":
            return httpx.Response(200, json=self.answer or self._predict(json.loads(request.content)))
        if request.url.path == "/serving/colours/v2/models/colours" and self.described is not None:
            return httpx.Response(200, json={"name": "colours", "parameters": self.described})
        if request.url.path == "/api/v1/models/empty/versions":
            return httpx.Response(200, json={"modelVersions": [], "pagination": {"total": 0}})
        return httpx.Response(404, json={"error": {"code": 5, "message": f"no {request.url.path}"}})

    def _predict(self, body: dict[str, Any]) -> dict[str, Any]:
        self.instances.append(len(body["instances"]))
        packed = [np.frombuffer(base64.b64decode(instance["data"]), np.uint8) for instance in body["instances"]]
        pictures = [cv2.imdecode(content, cv2.IMREAD_COLOR)[:, :, ::-1] for content in packed]
        detector = FakeDetector()
        rows = [
            [
                {detector.classes[int(label) - 1].name: box.tolist(), "score": float(score)}
                for box, score, label in zip(found.boxes, found.scores, found.labels, strict=True)
            ]
            for found in detector.detect(pictures)
        ]
        return {"predictions": rows}


@pytest.fixture
def serving() -> Serving:
    return Serving()


@pytest.fixture
def resolute(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Resolute:
    for name in ("DET_MASTER", "DET_USER", "DET_PASS", "RESOLUTE_TOKEN", "RESOLUTE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("RESOLUTE_MASTER", "http://fake:8080")
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Outcome:
        code = run(arguments, transport=httpx.MockTransport(serving))
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return invoke


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A georeferenced image with a red and a blue rectangle, each across windows of 100 pixels."""
    pixels = np.zeros((3, 300, 400), np.uint8)
    pixels[0, 90:120, 80:130] = 220
    pixels[2, 200:240, 310:340] = 250
    with rasterio.open(
        tmp_path / "scene.tif", "w", driver="GTiff", width=400, height=300, count=3, dtype="uint8",
        photometric="RGB", crs="EPSG:4326", transform=rasterio.Affine(1e-4, 0, 20, 0, -1e-4, 40),
    ) as target:  # fmt: skip
        target.write(pixels)
    return tmp_path / "scene.tif"


def test_an_image_is_drawn_and_put_on_the_map(resolute: Resolute, scene: Path, tmp_path: Path) -> None:
    outcome = resolute(
        "predict", str(scene), "--weights", "fake", "--slice-size", "100", "--overlap", "0.5", "--geojson", "--json"
    )

    assert (outcome.code, outcome.err) == (0, "")
    (found,) = json.loads(outcome.out)["images"]
    assert [(row["class"], row["box"]) for row in found["detections"]] == [
        ("blue", [310, 200, 340, 240]),
        ("red", [80, 90, 130, 120]),
    ]
    assert cv2.imread(str(tmp_path / found["picture"])).shape == (300, 400, 3)
    features = json.loads((tmp_path / found["geojson"]).read_text())
    assert features["coordinates"] == "wgs84"
    assert min(features["features"][0]["geometry"]["coordinates"][0]) == [20.031, 39.976]


def test_a_table_tells_what_was_found(resolute: Resolute, scene: Path) -> None:
    outcome = resolute("predict", str(scene), "--weights", "fake", "--no-draw")

    assert outcome.code == 0
    assert "scene.tif" in outcome.out
    assert "blue 0.9" in outcome.out
    assert not Path("predictions").exists()


@pytest.mark.parametrize("merge", ["nms", "nmm", "greedy-nmm"])
def test_every_way_of_joining_can_be_chosen(resolute: Resolute, scene: Path, merge: str) -> None:
    outcome = resolute(
        "predict", str(scene), "--weights", "fake", "--slice_size", "160", "--merge", merge, "--metric", "iou",
        "--no-full-image", "--no-draw", "--json",
    )  # fmt: skip

    assert outcome.code == 0
    assert json.loads(outcome.out)["images"][0]["detections"]


def test_how_windows_are_joined_is_what_was_chosen(resolute: Resolute, scene: Path) -> None:
    def boxes(*options: str) -> list[list[float]]:
        """Of the red rectangle, which windows of 48 pixels cut into parts."""
        fixed = ("--weights", "fake", "--slice-size", "48", "--no-full-image", "--no-draw", "--json")
        outcome = resolute("predict", str(scene), *fixed, *options)
        return [row["box"] for row in json.loads(outcome.out)["images"][0]["detections"] if row["class"] == "red"]

    parts = boxes("--merge", "nms", "--metric", "iou", "--threshold", "0.9")
    fewer = boxes("--merge", "nms", "--metric", "ios", "--threshold", "0.05")
    whole = boxes("--merge", "nmm", "--metric", "ios", "--threshold", "0.05")

    assert len(parts) > len(fewer) >= 1
    assert [80, 90, 130, 120] not in fewer
    assert whole == [[80, 90, 130, 120]]


def test_a_deployment_is_asked_window_by_window(resolute: Resolute, serving: Serving, scene: Path) -> None:
    outcome = resolute(
        "predict", str(scene), "--deployment", "colours", "--slice-size", "200", "--batch-size", "4",
        "--no-full-image", "--no-draw", "--json",
    )  # fmt: skip

    assert outcome.code == 0
    assert serving.instances == [4, 2]
    found = {row["class"]: row["box"] for row in json.loads(outcome.out)["images"][0]["detections"]}
    assert found == {"blue": [310, 200, 340, 240], "red": [80, 90, 130, 120]}


@pytest.fixture
def deep_scene(tmp_path: Path) -> Path:
    """Blue, green, red and near infrared of 16 bits, with something red."""
    pixels = np.full((4, 120, 120), 300, np.uint16)
    pixels[2, 30:60, 40:80] = 4000
    with rasterio.open(
        tmp_path / "deep.tif", "w", driver="GTiff", width=120, height=120, count=4, dtype="uint16",
        photometric="MINISBLACK", crs="EPSG:4326", transform=rasterio.Affine(1e-4, 0, 20, 0, -1e-4, 40),
    ) as target:  # fmt: skip
        target.write(pixels)
    return tmp_path / "deep.tif"


LEARNT = Preprocessing(bands=(3, 2, 1), origins=(Origin("tiff", "uint16", 4),), tile_size=60)


def test_an_image_is_shown_to_a_deployment_as_its_model_learnt_it(
    resolute: Resolute, serving: Serving, deep_scene: Path
) -> None:
    serving.described = {"preprocessing": LEARNT.as_dict()}

    outcome = resolute("predict", str(deep_scene), "--deployment", "colours", "--no-draw", "--overlap", "0", "--json")

    assert (outcome.code, outcome.err) == (0, "")
    (found,) = json.loads(outcome.out)["images"]
    assert [(row["class"], row["box"]) for row in found["detections"]] == [("red", [40, 30, 80, 60])]
    assert serving.instances == [4, 1]


def test_another_choice_than_that_of_the_training_is_warned_of(
    resolute: Resolute, serving: Serving, deep_scene: Path
) -> None:
    serving.described = {"preprocessing": LEARNT.as_dict()}
    given = ("predict", str(deep_scene), "--deployment", "colours", "--no-draw", "--json", "--bands")

    same, other = resolute(*given, "3,2,1"), resolute(*given, "1,2,3")

    assert same.err == ""
    assert "Warning: The detector learnt from pixels made with bands 3,2,1" in other.err
    assert [row["class"] for row in json.loads(other.out)["images"][0]["detections"]] == ["blue"]


@pytest.mark.parametrize("answer", [{"predictions": []}, {"predictions": [[{"label": "cat"}]]}, {"error": "x"}])
def test_a_deployment_that_is_no_detector_is_told(
    resolute: Resolute, serving: Serving, scene: Path, answer: dict[str, Any]
) -> None:
    serving.answer = answer

    outcome = resolute("predict", str(scene), "--deployment", "colours", "--no-draw")

    assert outcome.code == 1
    assert "Is it a detector?" in outcome.err


def test_one_bad_image_does_not_stop_the_rest(resolute: Resolute, scene: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")

    outcome = resolute("predict", str(tmp_path), "--weights", "fake", "--no-draw", "--json")

    images = json.loads(outcome.out)["images"]
    assert outcome.code == 1
    assert "broken.png cannot be read" in outcome.err
    assert [("problem" in image, Path(image["image"]).name) for image in images] == [
        (True, "broken.png"),
        (False, "scene.tif"),
    ]


def test_images_of_one_name_do_not_overwrite_each_other(resolute: Resolute, scene: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "scene.tif").write_bytes(scene.read_bytes())

    outcome = resolute("predict", str(scene), str(tmp_path / "other"), "--weights", "fake")

    assert outcome.code == 0
    assert sorted(path.name for path in Path("predictions").iterdir()) == ["scene-2.jpg", "scene.jpg"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "No model given. Name one of --checkpoint, --model, --weights"),
        (("--weights", "fake", "--model", "m"), "--model and --weights given. Name one of"),
        (("--weights", "nowhere"), "There is no folder nowhere"),
        (("--deployment", "colours", "--weights", "fake"), "--deployment serves one model already"),
        (("--weights", "fake", "--overlap", "1"), "overlap ratio is 1.0"),
        (("--weights", "fake", "--score", "7"), "score threshold is 7.0"),
        (("--weights", "fake", "--threshold", "0"), "merge threshold is 0.0"),
        (("--model", "empty"), "Model empty has no version yet"),
        (("--model", "ghost/3"), "no /api/v1/models/ghost/versions/3"),
        (("--checkpoint", "c0ffee"), "no /api/v1/checkpoints/c0ffee"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    resolute: Resolute, scene: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    outcome = resolute("predict", str(scene), *arguments)

    assert outcome.code == 1
    assert sentence in outcome.err
    assert "Traceback" not in outcome.err


def test_images_that_are_not_there_are_told(resolute: Resolute) -> None:
    outcome = resolute("predict", "gone/*.tif", "--weights", "fake")

    assert outcome.code == 1
    assert "There is no image at gone/*.tif" in outcome.err


def test_patterns_and_folders_name_every_image_once(scene: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no image")

    assert expand_images([str(tmp_path), str(tmp_path / "*"), str(scene)]) == [scene]


def test_evaluate_prints_the_twelve_numbers_and_every_class(resolute: Resolute, scene: Path, tmp_path: Path) -> None:
    labels = {
        "images": [{"id": 1, "file_name": "scene.tif", "width": 400, "height": 300}],
        "categories": [{"id": n, "name": name} for n, name in enumerate(("red", "green", "blue"), start=1)],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [80, 90, 50, 30]}],
    }
    (tmp_path / "labels.json").write_text(json.dumps(labels))
    given = ("evaluate", "--data", str(tmp_path), "--annotations", "labels.json", "--weights", "fake")

    shown, plain = resolute(*given, "--out", "report"), resolute(*given, "--json")

    assert (shown.code, shown.err) == (0, "")
    assert "mAP_50      1.0000" in shown.out
    assert "background" in shown.out
    assert [line.split()[1] for line in shown.out.splitlines() if line.startswith(("1 ", "3 "))] == ["red", "blue"]
    assert json.loads(plain.out)["summary"]["mAP"] == pytest.approx(1.0)
    assert (tmp_path / "report" / "evaluation.json").exists()
    assert (tmp_path / "report" / "evaluation" / "worst-1.jpg").exists()


def test_evaluate_names_images_that_could_not_be_read(resolute: Resolute, tmp_path: Path) -> None:
    labels = {"images": [{"id": 1, "file_name": "gone.png"}], "categories": [{"id": 1, "name": "red"},
              {"id": 2, "name": "green"}, {"id": 3, "name": "blue"}]}  # fmt: skip
    (tmp_path / "labels.json").write_text(json.dumps(labels))

    outcome = resolute("evaluate", "--data", ".", "--annotations", "labels.json", "--weights", "fake")

    assert outcome.code == 1
    assert "1 image(s) could not be read, such as gone.png" in outcome.err
