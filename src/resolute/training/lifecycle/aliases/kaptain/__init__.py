"""The Kaptain SDK under its own name, for trainers and notebooks: every name here is ours.

The folder above stands at the end of Python's path, so that an SDK that is installed comes first.
RESOLUTE_KAPTAIN=off switches it off.
"""

import os

if os.environ.get("RESOLUTE_KAPTAIN", "").lower() in ("off", "no", "false", "0"):
    raise ModuleNotFoundError("No module named 'kaptain': RESOLUTE_KAPTAIN is off.", name="kaptain")
