"""Inside a trial that `Model` made: trainers run as they are, record, export, and stay out of each other's way."""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from resolute.client.lifecycle.contract import TrialOrder
from resolute.client.task.fake import FakeTaskMaster
from resolute.training.lifecycle.export import ModelExportUtil
from resolute.training.lifecycle.metadata import MetadataUtil
from resolute.training.lifecycle.runner import main, run_trainer
from resolute.training.lifecycle.workplace import own_workplace

TRAINER = """
import os, sys
from pathlib import Path
import words
from kaptain.platform.metadata_util import MetadataUtil
from kaptain.platform.model_export_util import ModelExportUtil

Path("seen.txt").write_text(repr((__name__, sys.argv[1:], words.WORD)))
{body}
"""
RECORD_AND_EXPORT = """
MetadataUtil.record_metrics({"loss": 0.5, "accuracy": "0.9906"})
MetadataUtil.record_metrics({"loss": 0.25, "accuracy": "0.9950"})
Path("model.pt").write_bytes(b"weights")
ModelExportUtil().upload_model("model.pt")
Path("model.pt").write_bytes(b"changed afterwards")
"""
Start = Callable[..., Path]


@pytest.fixture
def start(master: FakeTaskMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Makes this process a trial whose trainer has the given body, in a folder of its own."""
    home = tmp_path / "context"
    home.mkdir()
    (home / "words.py").write_text("WORD = 'beside'\n")
    (home / "model.py").write_text("class Net: ...\n")
    monkeypatch.chdir(home)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", ["runner"])
    level, known = logging.getLogger("httpx").level, set(sys.modules)

    def start(body: str, *, metric: str = "", hparams: dict[str, Any] | None = None, **changes: Any) -> Path:
        (home / "trainer.py").write_text(TRAINER.format(body=body))
        given = {"model_id": "dev/mnist", "phase": "train", "main_file": "trainer.py", **changes}
        searcher = {"name": "single", "metric": metric, "max_length": {"batches": 1}}
        config = {"data": TrialOrder(**given).as_data(), "searcher": searcher}
        overrides = {"DET_HPARAMS": json.dumps(hparams or {})}
        for name, value in master.env(tmp_path / "storage", config=config, **overrides).items():
            monkeypatch.setenv(name, value)
        return home

    yield start
    logging.getLogger("httpx").setLevel(level)
    for name in set(sys.modules) - known:
        if name.partition(".")[0] in ("kaptain", "words"):
            del sys.modules[name]


def stored(tmp_path: Path, master: FakeTaskMaster) -> dict[str, bytes]:
    """Files of the one checkpoint there is."""
    (uuid,) = master.checkpoints
    folder = tmp_path / "storage" / uuid
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestRunning:
    def test_a_trainer_sees_its_flags_and_what_lies_beside_it(self, start: Start) -> None:
        home = start("", flags=("--epochs",), args=(("--log-interval", "10"),), hparams={"--epochs": 5})

        run_trainer()

        assert (home / "seen.txt").read_text() == repr(("__main__", ["--epochs=5", "--log-interval=10"], "beside"))

    @pytest.mark.parametrize("body", ["sys.exit()", "sys.exit(0)"])
    def test_a_trainer_that_exits_well_has_succeeded(self, start: Start, body: str) -> None:
        start(body)

        assert main() == 0

    def test_another_exit_code_is_passed_on(self, start: Start) -> None:
        start("sys.exit(3)")

        with pytest.raises(SystemExit) as leaving:
            main()

        assert leaving.value.code == 3

    def test_an_exception_of_the_trainer_is_its_own(self, start: Start, master: FakeTaskMaster) -> None:
        start(RECORD_AND_EXPORT + "raise ZeroDivisionError('in user code')")

        with pytest.raises(ZeroDivisionError, match="in user code"):
            main()

        assert master.checkpoints == {}

    def test_outside_of_a_trial_it_says_how_to_run_alone(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main() == 1
        assert "python trainer.py" in capsys.readouterr().err

    def test_a_trial_of_another_kind_is_refused(
        self, on_cluster: FakeTaskMaster, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main() == 1
        assert "was not made by resolute.Model" in capsys.readouterr().err


class TestRecording:
    def test_metrics_become_validation_metrics_one_point_a_call(self, start: Start, master: FakeTaskMaster) -> None:
        start(RECORD_AND_EXPORT)

        run_trainer()

        reports = master.reports("validation")
        assert [report["stepsCompleted"] for report in reports] == [1, 2]
        assert reports[1]["metrics"] == {"avgMetrics": {"loss": 0.25, "accuracy": 0.995, "recording": 2}}

    @pytest.mark.parametrize("metrics", ["{}", "[1]", "{'loss': 'low'}"])
    def test_what_is_no_metric_is_refused_with_a_sentence(
        self, start: Start, metrics: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        start(f"MetadataUtil.record_metrics({metrics})")

        assert main() == 1
        assert capsys.readouterr().err.startswith("ERROR: ")

    def test_a_search_learns_that_its_metric_never_came(self, start: Start, capsys: pytest.CaptureFixture[str]) -> None:
        start(RECORD_AND_EXPORT, metric="f1", phase="tune")

        assert main() == 1
        assert "metric 'f1' was never reported" in capsys.readouterr().err

    def test_a_search_may_end_the_trial_at_a_recording(self, start: Start, master: FakeTaskMaster) -> None:
        body = (
            "import signal\n"
            "os.kill(os.getpid(), signal.SIGTERM)\n"
            "MetadataUtil.record_metrics({'loss': 1})\n"
            "Path('went_on').touch()\n"
        )
        home = start(body, is_stopped_early=True)

        assert main() == 0
        assert not (home / "went_on").exists()

    def test_other_searches_do_not(self, start: Start) -> None:
        body = (
            "import signal\n"
            "os.kill(os.getpid(), signal.SIGTERM)\n"
            "MetadataUtil.record_metrics({'loss': 1})\n"
            "Path('went_on').touch()\n"
        )
        home = start(body)

        assert main() == 0
        assert (home / "went_on").exists()

    def test_alone_they_are_only_shown(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO):
            MetadataUtil.record_metrics({"loss": 1})
            ModelExportUtil().upload_model("model.pt")

        assert "the metrics are only shown: {'loss': 1}" in caplog.text
        assert "model.pt stays where it is" in caplog.text


class TestExporting:
    def test_the_model_as_it_was_becomes_a_checkpoint_with_the_last_metrics(
        self, start: Start, master: FakeTaskMaster, tmp_path: Path
    ) -> None:
        start(RECORD_AND_EXPORT, serving_digest="d1")

        run_trainer()

        (checkpoint,) = master.checkpoints.values()
        assert stored(tmp_path, master)["model.pt"] == b"weights"
        assert checkpoint["metadata"]["steps_completed"] == 2
        assert checkpoint["metadata"]["lifecycle"] == {
            "model_id": "dev/mnist",
            "phase": "train",
            "exported": ["model.pt"],
            "serving_digest": "d1",
        }

    def test_what_is_needed_to_serve_it_is_added(self, start: Start, master: FakeTaskMaster, tmp_path: Path) -> None:
        serving = {"model_name": "dev-mnist", "handler": "image_classifier", "model_file": "model.py"}
        start(RECORD_AND_EXPORT, serving=serving, serving_files=("model.py",))

        run_trainer()

        files = stored(tmp_path, master)
        assert json.loads(files["serving.json"]) == {**serving, "serialized_file": "model.pt"}
        assert files["model.py"] == b"class Net: ...\n"

    def test_folders_and_extra_files_go_along(self, start: Start, master: FakeTaskMaster, tmp_path: Path) -> None:
        body = (
            "Path('out/inner').mkdir(parents=True); Path('out/inner/a.bin').touch(); Path('names.json').touch()\n"
            "ModelExportUtil().upload_model('out', extra_files=['names.json'])\n"
        )
        start(body)

        run_trainer()

        (checkpoint,) = master.checkpoints.values()
        assert checkpoint["metadata"]["lifecycle"]["exported"] == ["inner/a.bin", "names.json"]

    def test_tensorflow_gets_a_numbered_folder(self, start: Start, master: FakeTaskMaster) -> None:
        body = "Path('out').mkdir(); Path('out/saved_model.pb').touch(); ModelExportUtil().upload_model('out')"
        start(body, framework="tensorflow")

        run_trainer()

        (checkpoint,) = master.checkpoints.values()
        assert checkpoint["metadata"]["lifecycle"]["exported"] == ["0001/saved_model.pb"]

    def test_a_file_that_was_not_saved_is_named(self, start: Start, capsys: pytest.CaptureFixture[str]) -> None:
        start("ModelExportUtil().upload_model('model.pt')")

        assert main() == 1
        assert "upload_model: there is no 'model.pt'" in capsys.readouterr().err

    def test_only_the_first_worker_exports(
        self, start: Start, master: FakeTaskMaster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home = start(RECORD_AND_EXPORT)
        for name, value in {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2"}.items():
            monkeypatch.setenv(name, value)

        run_trainer()

        assert master.checkpoints == {}
        assert master.reports() == []
        assert not (home / "model.pt").exists()


class TestWorkplaces:
    def test_the_first_process_stays_where_it_is(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

        with own_workplace(0) as place:
            assert place == tmp_path

    def test_others_see_all_files_and_disturb_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "model.pt").write_text("of the first")
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "x").write_text("pictures")

        with own_workplace(1) as place:
            Path("model.pt").write_text("of the second")
            data = Path("data/x").read_text()

        assert data == "pictures"
        assert (tmp_path / "model.pt").read_text() == "of the first"
        assert Path.cwd() == tmp_path
        assert not place.exists()
