"""The Triton kernels, run by Triton's interpreter in a process of its own, give what plain torch gives."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

CHECKS = Path(__file__).with_name("kernel_checks.py")


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
def test_every_kernel_agrees_with_its_plain_torch_form() -> None:
    environment = os.environ | {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}

    outcome = subprocess.run(
        [sys.executable, str(CHECKS)], env=environment, capture_output=True, text=True, check=False
    )

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "5 kernels agree" in outcome.stdout
