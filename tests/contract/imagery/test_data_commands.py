"""`resolute data ...` as it is typed: the original command lines with another program name, and bad input."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from resolute.cli.main import run
from resolute.imagery.synth.make import SynthResult


@pytest.fixture
def resolute(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = run(["data", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def lines_of_the_original(found: SynthResult, out: Path, dash: str) -> list[list[object]]:
    home = found.images_dir.parent

    def option(name: str) -> str:
        return f"--{name}".replace("_", dash)

    rgb = {"input_dir": found.images_dir, "out_dir": out / "rgb"}
    coco = {
        "train_images_dir": found.images_dir,
        "train_images_dir_rgb": out / "rgb",
        "train_geojson_path": found.geojson_path,
        "output_dir": out,
        "train_split_rate": 0.75,
        "category_id_remapping": home / "category_id_mapping.json",
        "xview_class_labels": home / "xview_class_labels.txt",
    }
    tile = {
        "image_dir": out / "rgb",
        "train_dataset_json_path": out / "train.json",
        "val_dataset_json_path": out / "val.json",
        "slice_size": 300,
        "overlap_ratio": 0.2,
        "ignore_negative_samples": "True",
        "min_area_ratio": 0.1,
        "output_train_dir": out / "t",
        "output_val_dir": out / "v",
    }
    return [
        [verb, *(part for name, value in given.items() for part in (option(name), value))]
        for verb, given in (("rgb", rgb), ("coco", coco), ("tile", tile))
    ]


@pytest.mark.parametrize("dash", ["_", "-"])
def test_the_original_command_lines_work(resolute: Any, synthetic: SynthResult, tmp_path: Path, dash: str) -> None:
    for line in lines_of_the_original(synthetic, tmp_path, dash):
        code, _, error = resolute(*line, *([] if line[0] == "coco" else ["--workers", "1"]))
        assert (code, error) == (0, "")

    assert len(list((tmp_path / "rgb").glob("*.png"))) == 4
    assert (tmp_path / "t" / "train_300_02.json").exists()
    assert list((tmp_path / "v" / "val_images_300_02").glob("*.jpg"))


@pytest.mark.parametrize(
    ("flag", "tiles"), [(["--ignore_negative_samples"], 1), (["--ignore_negative_samples", "False"], 9), ([], 1)]
)
def test_negatives_may_be_kept_or_not(resolute: Any, tmp_path: Path, flag: list[str], tiles: int) -> None:
    resolute("synth", tmp_path, "-n", 1, "--size", 700, "--objects", 1, "--classes", 1, "--defects", 0)
    common = ["--train_images_dir", tmp_path / "train_images", "--train_geojson_path", tmp_path / "xView_train.geojson"]
    resolute("coco", *common, "--output_dir", tmp_path, "--train_split_rate", "1")
    paths = ["--image_dir", tmp_path / "train_images", "--train_dataset_json_path", tmp_path / "train.json"]

    _, out, _ = resolute("tile", *paths, *flag, "--output_train_dir", tmp_path / "t", "--workers", 1, "--json")

    assert json.loads(out)["train_tiles"] >= tiles
    assert (json.loads(out)["train_tiles"] == 9) == (tiles == 9)


def test_every_step_speaks_json(resolute: Any, synthetic: SynthResult, tmp_path: Path) -> None:
    for line in lines_of_the_original(synthetic, tmp_path, "_"):
        _, out, _ = resolute(*line, "--json", "--report", tmp_path / "report.json")
        assert json.loads(out)["report"] == json.loads((tmp_path / "report.json").read_text())


def test_the_report_names_reasons_with_counts_and_examples(
    resolute: Any, synthetic: SynthResult, tmp_path: Path
) -> None:
    _, out, _ = resolute(
        "coco", "--train-images-dir", synthetic.images_dir, "--train-geojson-path", synthetic.geojson_path,
        "--output-dir", tmp_path,
    )  # fmt: skip

    assert "unknown_class" in out
    assert "class 75" in out


def test_check_ends_with_one_when_it_finds_anything(resolute: Any, synthetic: SynthResult) -> None:
    code, out, _ = resolute("check", synthetic.geojson_path, "--image-dir", synthetic.images_dir)

    assert code == 1
    assert "image_not_found" in out


def test_labels_are_counted_filtered_shown_and_converted(resolute: Any, synthetic: SynthResult, tmp_path: Path) -> None:
    resolute(
        "coco", "--train-images-dir", synthetic.images_dir, "--train-geojson-path", synthetic.geojson_path,
        "--output-dir", tmp_path,
    )  # fmt: skip
    labels, images = tmp_path / "train.json", synthetic.images_dir

    _, stats, _ = resolute("stats", labels, "--json")
    _, chosen, _ = resolute("filter", labels, tmp_path / "few.json", "-c", "Building", "--renumber", "--json")
    _, sheet, _ = resolute("show", labels, "--image-dir", images, "-o", tmp_path / "sheet.png", "--json")
    code, _, _ = resolute("convert", labels, tmp_path / "yolo", "--to", "yolo")
    assert resolute("stats", labels)[0] == 0

    assert json.loads(stats)["images"] == 3
    assert json.loads(chosen)["classes"] == 1
    assert json.loads(sheet)["images"] == 3
    assert code == 0
    assert (tmp_path / "sheet.png").exists()
    assert (tmp_path / "yolo" / "classes.txt").exists()


@pytest.fixture
def expired_link() -> Iterator[str]:
    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(403)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Refusing)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/train_images.tgz?Expires=1680923794&Signature=secret"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_expired_download_link_is_told_in_a_sentence(resolute: Any, expired_link: str, tmp_path: Path) -> None:
    code, _, message = resolute("pull", expired_link, tmp_path)

    assert code == 1
    assert "the link expired on 2023-04-08 at 03:16 UTC. Get a new link" in message
    assert "secret" not in message


def test_a_set_is_pushed_and_pulled(resolute: Any, synthetic: SynthResult, tmp_path: Path) -> None:
    code, out, _ = resolute("push", synthetic.images_dir, tmp_path / "store")
    _, pulled, _ = resolute("pull", tmp_path / "store", tmp_path / "back", "--json")

    assert code == 0
    assert "Pushed 7 file(s)" in out
    assert json.loads(pulled)["moved"] == 7


BAD_LINES = [
    (["rgb", "--input_dir", "nowhere", "--out_dir", "x"], "There is no folder nowhere"),
    (["rgb", "--input_dir", ".", "--out_dir", "x", "--bands", "a,b"], "--bands is 'a,b'"),
    (["rgb", "--input_dir", ".", "--out_dir", "x", "--percentiles", "2"], "--percentiles is '2'"),
    (["rgb", "--input_dir", ".", "--out_dir", "x", "--quality", "0"], "quality is 0"),
    (["tile", "--image_dir", "."], "nothing to tile"),
    (["tile", "--image_dir", ".", "--output_train_dir", "x"], "--train-dataset-json-path is missing"),
    (["stats", "nowhere.json"], "There is no label file nowhere.json"),
    (["check", "nowhere.json"], "There is no label file nowhere.json"),
    (["synth", "x", "--size", "big"], "--size is 'big'"),
    (["synth", "x", "--images", "0"], "images is 0"),
    (["push", "nowhere", "x"], "There is no folder nowhere"),
    (["pull", "ftp://x", "y"], "ftp://x cannot be opened"),
    (["convert", "nowhere", "x", "--from", "voc"], "There is no folder nowhere"),
]


@pytest.mark.parametrize(("line", "sentence"), BAD_LINES)
def test_bad_input_is_one_sentence_and_exit_code_one(
    resolute: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)

    code, _, error = resolute(*line)

    assert code == 1
    assert sentence in error
    assert "Traceback" not in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ratio", ["1.0", "-0.1"])
def test_a_tiling_that_would_never_end_is_refused(resolute: Any, tmp_path: Path, ratio: str) -> None:
    line = ["tile", "--image_dir", tmp_path, "--train_dataset_json_path", "x", "--output_train_dir", "y"]

    code, _, error = resolute(*line, "--overlap_ratio", ratio)

    assert code == 1
    assert "overlap ratio is" in error
