"""Prints what it finds in the folder it is given, line by line, until there is a file `end`."""

import os
import sys
import time
from pathlib import Path

folder = Path(os.environ["TALKER_FOLDER"])
said: set[str] = set()
while not (folder / "end").exists():
    for path in sorted(folder.glob("say-*")):
        if path.name not in said:
            said.add(path.name)
            print(path.read_text(), flush=True)
    time.sleep(0.02)
sys.exit(1)
