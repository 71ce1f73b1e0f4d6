"""`load_model` finds out what is there, loads it safely, and says what it cannot serve."""

import argparse
import io
import json
import os
import pickle
import zipfile
from collections import OrderedDict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from resolute.domain.errors import InvalidInput, NotFound, NotSupported
from resolute.serving.archive import ArchiveFormat, ArchiveParts, write_archive
from resolute.serving.loading import load_model
from resolute.serving.weights import strip_checkpoint, write_safetensors

pytestmark = pytest.mark.usefixtures("model_process")

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 3)

    def forward(self, x):
        return self.layer(x)
"""
STATE = {"layer.weight": torch.tensor([[1.0, 0], [0, 1], [1, 1]]), "layer.bias": torch.tensor([0.0, 0, 1])}
WANTED = [[1.0, 2.0, 4.0]]
HANDLER = "def handle(data, context):\n    return data and [context.system_properties['batch_size'] for _ in data]\n"


class Bomb:
    def __reduce__(self) -> Any:
        return os.system, ("touch exploded",)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/model.py").write_text(NET)
    return tmp_path / "m"


@pytest.mark.parametrize("name", ["weights.safetensors", "model.pt", "model.pth", "any.safetensors"])
def test_a_model_file_with_weights_is_served(folder: Path, name: str) -> None:
    if name.endswith(".safetensors"):
        write_safetensors(STATE, folder / name)
    else:
        torch.save(STATE, folder / name)

    assert load_model(folder, {}).predict([[1.0, 2.0]]) == WANTED
    assert load_model(folder / name, {}).metadata.platform == "pytorch_module"


@pytest.mark.parametrize(
    "content",
    [
        STATE,
        {"model": STATE, "optimizer": {"lr": 0.1}, "epoch": 3},
        {"state_dict": {f"module.{name}": value for name, value in STATE.items()}},
        {"models_state_dict": [{f"module.{name}": value for name, value in STATE.items()}], "rng_state": {"cpu": 1}},
        {"models_state_dict": [STATE], "rng_state": {"np": np.random.RandomState(0).get_state()}},
        {"shared": {"format": 1, "models": [STATE], "optimizers": []}, "own": {}},
        {"model": {f"_orig_mod.module.{name}": value for name, value in STATE.items()}},
        OrderedDict(STATE),
    ],
)
def test_every_layout_of_a_checkpoint_is_stripped_to_its_weights(tmp_path: Path, content: Any) -> None:
    torch.save(content, tmp_path / "c.pth")

    found = strip_checkpoint(tmp_path / "c.pth")

    assert set(found) == set(STATE)
    assert all(torch.equal(found[name], STATE[name]) for name in STATE)


@pytest.mark.parametrize("name", ["state_dict.pth", "state-rank0.pt", "weights.safetensors"])
def test_the_folder_of_a_checkpoint_is_stripped_too(tmp_path: Path, name: str) -> None:
    content = {"models_state_dict": [STATE]} if name == "state_dict.pth" else {"shared": {"models": [STATE]}}
    if name.endswith(".safetensors"):
        write_safetensors(STATE, tmp_path / name)
    else:
        torch.save(content, tmp_path / name)

    assert set(strip_checkpoint(tmp_path)) == set(STATE)


def test_tensors_that_share_memory_are_written_apart(tmp_path: Path) -> None:
    shared = torch.arange(4.0)

    write_safetensors({"a": shared, "b": shared, "c": shared[:2]}, tmp_path / "w.safetensors")

    assert strip_checkpoint(tmp_path / "w.safetensors")["c"].tolist() == [0, 1]


@pytest.mark.parametrize("name", ["model.pt", "model.pth"])
def test_a_pickle_that_executes_code_is_refused_and_does_not_run(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save({"model": Bomb()}, folder / name)

    with pytest.raises(InvalidInput, match=rf"{name} asks for `(posix|nt).system` to be run"):
        load_model(folder, {})

    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("name", ["model.pkl", "model.joblib", "model.pickle"])
def test_pickles_of_other_libraries_are_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(pickle.dumps(Bomb()))

    with pytest.raises(InvalidInput, match="is a pickle: loading it would run whatever code it carries"):
        load_model(tmp_path / name, {})
    with pytest.raises(InvalidInput, match="is a pickle"):
        load_model(tmp_path, {})


def test_a_module_pickled_whole_is_refused(folder: Path) -> None:
    torch.save(nn.Linear(2, 3), folder / "model.pt")

    with pytest.raises(InvalidInput, match=r"asks for `torch.nn.modules.linear.Linear` to be run"):
        load_model(folder, {})


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript_is_served_with_the_names_of_its_inputs(tmp_path: Path) -> None:
    torch.jit.save(torch.jit.script(nn.Linear(2, 1)), tmp_path / "model.pt")

    model = load_model(tmp_path, {})

    assert model.metadata.platform == "pytorch_torchscript"
    assert model.metadata.extra["input_names"] == ["input"]
    assert model.infer([{"input": np.zeros((4, 2), np.float32)}])[0]["output"].shape == (4, 1)
    with pytest.raises(InvalidInput, match=r"does not accept input FP32 \[1, 3\]"):
        model.predict([[1, 2, 3]])


def test_types_and_shapes_can_be_given_as_options(folder: Path) -> None:
    torch.save(STATE, folder / "model.pt")
    options = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 2]}]}

    model = load_model(folder, options)

    assert model.metadata.inputs[0].shape == (-1, 2)
    with pytest.raises(InvalidInput, match=r"input 'x': wanted FP32 \[-1, 2\], got FP32 \[1, 3\]"):
        model.predict([[1, 2, 3]])


def test_a_torch_export_file_is_served(tmp_path: Path) -> None:
    program = torch.export.export(nn.Linear(2, 1), (torch.zeros(3, 2),), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    torch.export.save(program, tmp_path / "model.pt2")

    model = load_model(tmp_path / "model.pt2", {})

    assert model.metadata.platform == "pytorch_export"
    assert np.asarray(model.predict([[1, 2], [3, 4]])).shape == (2, 1)


def test_objects_in_a_torch_export_file_are_refused(tmp_path: Path) -> None:
    program = torch.export.export(nn.Linear(2, 1), (torch.zeros(3, 2),))
    path = tmp_path / "model.pt2"
    torch.export.save(program, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model/data/constants/opaque_obj_0", pickle.dumps(Bomb()))

    with pytest.raises(InvalidInput, match="carries Python objects"):
        load_model(path, {})


def test_a_pickle_among_the_samples_of_a_torch_export_file_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = torch.export.export(nn.Linear(2, 1), (torch.zeros(3, 2),))
    torch.export.save(program, tmp_path / "good.pt2")
    payload = io.BytesIO()
    torch.save((Bomb(),), payload)
    with zipfile.ZipFile(tmp_path / "good.pt2") as good, zipfile.ZipFile(tmp_path / "bad.pt2", "w") as bad:
        for info in good.infolist():
            content = payload.getvalue() if "sample_inputs" in info.filename else good.read(info)
            bad.writestr(info.filename.replace("good/", "bad/"), content)

    with pytest.raises(InvalidInput, match=r"bad.pt2 cannot be read"):
        load_model(tmp_path / "bad.pt2", {})

    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("name", ["model.pt", "model.pt2", "model.onnx", "model.mar"])
def test_a_damaged_file_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"broken")

    with pytest.raises(InvalidInput, match="model"):
        load_model(tmp_path / name, {})


def test_weights_without_a_model_are_told_what_is_missing(tmp_path: Path) -> None:
    torch.save(STATE, tmp_path / "model.pt")

    with pytest.raises(InvalidInput, match=r"holds weights, but no model. Put model.py"):
        load_model(tmp_path, {})


def test_weights_of_another_model_are_told(folder: Path) -> None:
    torch.save({"layer.weight": torch.zeros(9, 9), "layer.bias": torch.zeros(3)}, folder / "model.pt")

    with pytest.raises(InvalidInput, match=r"does not fit Net: size mismatch for layer.weight"):
        load_model(folder, {})


def test_a_folder_with_nothing_to_serve_says_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")

    with pytest.raises(InvalidInput, match=r"holds notes.txt: nothing to serve. Served is a detector"):
        load_model(tmp_path, {})
    with pytest.raises(InvalidInput, match="There is nothing at"):
        load_model(tmp_path / "gone", {})
    with pytest.raises(InvalidInput, match=r"notes.txt cannot be served"):
        load_model(tmp_path / "notes.txt", {})


@pytest.mark.parametrize("archive_format", list(ArchiveFormat))
def test_an_archive_of_any_format_is_served(tmp_path: Path, archive_format: ArchiveFormat) -> None:
    (tmp_path / "h.py").write_text(HANDLER)
    parts = ArchiveParts(name="tiny", version="2.0", handler=str(tmp_path / "h.py"))
    path = write_archive(parts, tmp_path, now=datetime.now(UTC), archive_format=archive_format)

    model = load_model(path, {"batch_size": 3})

    assert model.predict([0]) == [3]
    assert model.metadata.extra["version"] == "2.0"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A TorchServe folder with two versions of one model and another model."""
    (tmp_path / "h.py").write_text(HANDLER)
    folder = tmp_path / "store"
    (folder / "config").mkdir(parents=True)
    (folder / "model-store").mkdir()
    for name in ("xview", "xview-2", "other"):
        parts = ArchiveParts(name=name, version=name, handler=str(tmp_path / "h.py"))
        write_archive(parts, folder / "model-store", now=datetime.now(UTC))
    (folder / "model-store/properties.json").write_text("[]")
    return folder


def _configure(store: Path, models: Any) -> None:
    text = "# written by hand\ninference_address=http://0.0.0.0:8085\nmodel_store=/mnt/models/model-store\n"
    snapshot = json.dumps({"name": "startup.cfg", "modelCount": 1, "models": models})
    (store / "config/config.properties").write_text(f"{text}model_snapshot={snapshot}\n")


def test_the_snapshot_of_a_torchserve_folder_is_honoured(store: Path) -> None:
    versions = {
        "1.0": {"marName": "xview.mar", "batchSize": 1},
        "2.0": {"defaultVersion": True, "marName": "xview-2.mar", "batchSize": 8, "maxBatchDelay": 100},
    }
    _configure(store, {"xview": versions})

    model = load_model(store, {})

    assert model.metadata.extra["version"] == "xview-2"
    assert model.metadata.extra["serving"]["maxBatchDelay"] == 100
    assert model.predict([0]) == [8]


def test_one_of_several_models_of_a_torchserve_folder_is_chosen_by_name(store: Path) -> None:
    assert load_model(store, {"model": "other"}).metadata.extra["version"] == "other"
    with pytest.raises(InvalidInput, match=r"has 3 models \(other, xview, xview-2\); say which with the option"):
        load_model(store, {})
    with pytest.raises(InvalidInput, match=r"has no model 'none'; it has other"):
        load_model(store, {"model": "none"})


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        ({"x": {"1.0": {"marName": "gone.mar"}}}, r"names gone.mar, which is not in model-store; it holds other.mar"),
        ({"x": {"1.0": {"marName": "../xview.mar"}}}, "names ../xview.mar"),
        ([], "model_snapshot"),
        ({"x": {}}, "model_snapshot must hold"),
    ],
)
def test_a_bad_snapshot_is_told(store: Path, models: Any, sentence: str) -> None:
    _configure(store, models)

    with pytest.raises(InvalidInput, match=sentence):
        load_model(store, {"model": "x"} if models else {})


def test_a_trained_folder_with_a_serving_configuration_is_served(folder: Path) -> None:
    torch.save(STATE, folder / "model.pt")
    (folder / "serving.json").write_text(json.dumps({"model_file": "model.py", "handler": "base_handler"}))

    assert load_model(folder, {}).predict([{"data": [1.0, 2.0]}]) == WANTED


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is not JSON"),
        ("{}", "must name a handler"),
        ('{"handler": "gone.py"}', "names gone.py as handler"),
        ('{"handler": "base_handler", "model_file": "../x.py"}', "not a file inside"),
    ],
)
def test_a_bad_serving_configuration_is_told(folder: Path, text: str, sentence: str) -> None:
    (folder / "serving.json").write_text(text)

    with pytest.raises(InvalidInput, match=sentence):
        load_model(folder, {})


def test_a_python_class_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "class Echo:\n    def __init__(self, times=1): self.times = times\n    def predict(self, rows): "
    (tmp_path / "my_echo.py").write_text(code + "return [row * self.times for row in rows]\nclass Not: ...\n")
    monkeypatch.syspath_prepend(tmp_path)

    model = load_model(Path("python:my_echo:Echo"), {"times": 2})

    assert model.predict([3, "a"]) == [6, "aa"]
    assert model.metadata.platform == "python"
    with pytest.raises(NotSupported, match="has no method infer"):
        model.infer([{}])
    for source, sentence in {
        "python:my_echo": "does not name a class",
        "python:my_echo:Gone": "has no Gone",
        "python:surely.not:There": "cannot be imported",
        "python:my_echo:Not": "cannot be made with the options",
    }.items():
        with pytest.raises(InvalidInput, match=sentence):
            load_model(Path(source), {"times": 2})


def test_a_damaged_detector_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "detector.json").write_text("{}")

    with pytest.raises((InvalidInput, NotFound), match=r"detector.json"):
        load_model(tmp_path, {})


# --------------------------------------------------------------------------------------------- pickles, if allowed


class Doubler:
    def predict(self, rows: Any) -> Any:
        return np.asarray(rows) * 2


ALLOWED = {"allow_pickle": True}


@pytest.mark.parametrize("name", ["model.pkl", "model.pickle"])
def test_a_pickled_object_with_predict_is_served_if_allowed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(pickle.dumps(Doubler()))

    model = load_model(tmp_path, ALLOWED)

    assert model.predict([[1, 2], [3, 4]]) == [[2, 4], [6, 8]]
    assert model.infer([{"x": np.array([5])}])[0]["predict"].tolist() == [10]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(pickle.dumps(3), "holds a int, which has no method predict"), (b"no pickle", "cannot be loaded: ")],
)
def test_a_pickle_that_is_no_model_is_refused_if_allowed(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "model.pkl").write_bytes(content)

    with pytest.raises(InvalidInput, match=sentence):
        load_model(tmp_path, ALLOWED)


def test_a_module_pickled_whole_is_served_if_allowed(tmp_path: Path) -> None:
    torch.save(nn.Linear(2, 1), tmp_path / "model.pt")

    with pytest.raises(InvalidInput, match=r"serving\.allow_pickle: true"):
        load_model(tmp_path, {})

    assert np.asarray(load_model(tmp_path, ALLOWED).predict([[1.0, 2.0]])).shape == (1, 1)


def test_weights_in_a_module_pickled_whole_are_read_if_allowed(folder: Path) -> None:
    whole = nn.ModuleDict({"layer": nn.Linear(2, 3)})
    whole.load_state_dict(STATE)
    torch.save(whole, folder / "model.pt")

    assert load_model(folder, ALLOWED).predict([[1.0, 2.0]]) == WANTED


def test_a_checkpoint_with_the_arguments_of_its_trainer_needs_no_leave(folder: Path) -> None:
    torch.save({"model": STATE, "args": argparse.Namespace(lr=0.1)}, folder / "model.pth")

    assert load_model(folder, {}).predict([[1.0, 2.0]]) == WANTED
