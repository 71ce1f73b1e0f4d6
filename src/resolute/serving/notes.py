"""What an exported file says of itself: kind, classes, inputs and outputs, so that it is served without options.

Pure.
"""

import json
from pathlib import Path
from typing import Any

from resolute.domain.errors import InvalidInput

NOTE = "resolute.json"
"""Name of the note inside the file."""
Note = dict[str, Any]


def read_note(text: str | bytes) -> Note:
    """Empty for files that others exported."""
    try:
        note = json.loads(text or "{}")
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def unreadable(path: Path, kind: str, error: Exception) -> InvalidInput:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return InvalidInput(f"{path.name} cannot be read as {kind}: {lines[0][:300] if lines else type(error).__name__}.")
