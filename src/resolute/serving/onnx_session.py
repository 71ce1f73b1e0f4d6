"""ONNX files opened by onnxruntime. No torch."""

import os
from pathlib import Path
from typing import Any

import onnxruntime

from resolute.serving.notes import NOTE, Note, read_note, unreadable


def open_session(path: Path, device: str = "cpu") -> Any:
    """With as many threads as OMP_NUM_THREADS says; without it, as many as there are cores."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS") or 0)
    options.log_severity_level = 3
    wanted = ["CUDAExecutionProvider"] if device.startswith("cuda") else []
    providers = [each for each in (*wanted, "CPUExecutionProvider") if each in onnxruntime.get_available_providers()]
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=providers)
    except Exception as error:
        raise unreadable(path, "ONNX", error) from None


def session_note(session: Any) -> Note:
    return read_note(session.get_modelmeta().custom_metadata_map.get(NOTE, ""))
