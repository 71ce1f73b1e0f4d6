"""Torch is imported where a kind of model needs it, and nowhere before: servers and commands start quickly."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "resolute.serving.loading",
        "resolute.serving.archive",
        "resolute.serving.images",
        "resolute.serving.runtimes.onnx",
        "resolute.serving.runtimes.detector",
        "resolute.cli.model_export",
    ],
)
def test_no_torch_until_a_model_needs_it(module: str) -> None:
    code = f"import sys, {module}; sys.exit('torch' in sys.modules or 'torchvision' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
