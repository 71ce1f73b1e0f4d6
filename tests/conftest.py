"""Settings for all tests."""

import os

from hypothesis import settings

# How long an example takes says something about the machine, not about the code. The same examples every time: a change
# is judged by what it changed. `HYPOTHESIS_PROFILE=explore` looks for new ones.
settings.register_profile("resolute", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "resolute"))
