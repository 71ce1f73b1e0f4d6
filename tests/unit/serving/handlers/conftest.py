"""Archives with tiny models."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import torch

from resolute.serving.archive import ArchiveParts, write_archive
from resolute.serving.loading import load_model
from resolute.serving.model import Model

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(__import__("torch").ones(()))
        self.head = nn.Linear(3, 4)

    def forward(self, x):
        return self.head(x.mean(dim=(2, 3))[:, :3]) * self.scale
"""
Archive = Callable[..., Model]


@pytest.fixture
def archive(tmp_path: Path, model_process: None) -> Archive:
    """Pack a model file, weights, a handler and other files, and load what came out."""

    def make(
        handler: str,
        *,
        net: str | None = NET,
        state: Any = None,
        files: dict[str, Any] | None = None,
        model_file: str = "model.py",
        **parts: Any,
    ) -> Model:
        folder = tmp_path / "parts"
        folder.mkdir()
        for name, content in (files or {}).items():
            text = content if isinstance(content, str) else json.dumps(content)
            (folder / name).write_text(text)
        given: dict[str, Any] = {"extra_files": ",".join(str(folder / name) for name in files)} if files else {}
        if net is not None:
            (folder / model_file).write_text(net)
            given["model_file"] = folder / model_file
        if state is not None:
            torch.save(state, folder / "weights.pth")
            given["serialized_file"] = folder / "weights.pth"
        name = handler if "." not in handler else str(folder / handler)
        made = ArchiveParts(name="tiny", version="1.0", handler=name, **given, **parts)
        return load_model(write_archive(made, tmp_path, now=datetime.now(UTC)), {})

    return make
