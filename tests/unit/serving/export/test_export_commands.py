"""`resolute model export | package | strip`, as typed."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import typer
from torch import nn

from resolute.cli.command import group
from resolute.cli.model_export import add_export_commands, parse_input, parse_size
from resolute.domain.errors import AlreadyExists, InvalidInput
from resolute.serving.model import TensorSpec
from resolute.serving.weights import strip_checkpoint

pytestmark = pytest.mark.usefixtures("model_process")
Typed = Callable[..., Any]
NET = """
from torch import nn

class Net(nn.Linear):
    def __init__(self):
        super().__init__(4, 3)
"""


@pytest.fixture
def typed(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Typed:
    monkeypatch.chdir(tmp_path)
    app = group("models")
    add_export_commands(app)

    def invoke(*arguments: str) -> Any:
        typer.main.get_command(app).main([*arguments, "--json"], obj={}, standalone_mode=False)
        return json.loads(capsys.readouterr().out)

    return invoke


@pytest.fixture
def net(tmp_path: Path) -> Path:
    folder = tmp_path / "net"
    folder.mkdir()
    (folder / "model.py").write_text(NET)
    torch.save({"model": nn.Linear(4, 3).state_dict(), "optimizer": {"lr": 0.1}}, folder / "model.pt")
    return folder


def test_a_model_is_exported_from_a_folder(typed: Typed, net: Path) -> None:
    told = typed("export", str(net), "--format", "torchscript", "--out", "net.pt")

    assert told == {"path": "net.pt", "format": "torchscript", "bytes": Path("net.pt").stat().st_size}


def test_an_archive_is_made_with_the_options_of_the_archiver(typed: Typed, net: Path, tmp_path: Path) -> None:
    given = ["--model-name", "my-net", "--version", "1.0", "--handler", "base_handler"]
    files = ["--model-file", str(net / "model.py"), "--serialized-file", str(net / "model.pt")]

    told = typed("package", *given, *files, "--export_path", str(tmp_path))

    assert told == {"path": str(tmp_path / "my-net.mar"), "format": "default"}
    with zipfile.ZipFile(told["path"]) as archive:
        assert set(archive.namelist()) == {"model.py", "model.pt", "MAR-INF/MANIFEST.json"}
    with pytest.raises(AlreadyExists, match="--force"):
        typed("package", *given, *files, "--export-path", str(tmp_path))


@pytest.mark.parametrize("name", ["stripped.pth", "stripped.safetensors"])
def test_a_checkpoint_is_stripped_to_its_weights(typed: Typed, net: Path, tmp_path: Path, name: str) -> None:
    told = typed("strip", "--ckpt-path", str(net / "model.pt"), "--new-ckpt-name", name)

    assert told["tensors"] == 2
    assert set(strip_checkpoint(tmp_path / name)) == {"weight", "bias"}
    with pytest.raises(AlreadyExists):
        typed("strip", "--ckpt-path", str(net / "model.pt"), "--new-ckpt-name", name)
    with pytest.raises(InvalidInput, match="must end in"):
        typed("strip", "--ckpt-path", str(net / "model.pt"), "--new-ckpt-name", "x.bin")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("-1,3,224,224", TensorSpec(name="", datatype="FP32", shape=(-1, 3, 224, 224))),
        ("ids=-1,16:INT64", TensorSpec(name="ids", datatype="INT64", shape=(-1, 16))),
        ("7", TensorSpec(name="", datatype="FP32", shape=(7,))),
    ],
)
def test_the_shape_of_an_input_is_read(text: str, wanted: TensorSpec) -> None:
    assert parse_input(text) == wanted


@pytest.mark.parametrize("text", ["", "a,b", "1,0", "-2", "1:FLOAT", "x="])
def test_a_bad_shape_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="--input-shape"):
        parse_input(text)


def test_the_size_of_a_picture_is_read() -> None:
    assert parse_size("640x480") == (480, 640)
    assert parse_size("300") == (300, 300)
    for text in ("0", "x", "640x", "3x3x3", "-4"):
        with pytest.raises(InvalidInput, match="--image-size"):
            parse_size(text)
