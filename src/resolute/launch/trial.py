"""Train a class: `python -m resolute.launch.trial module:Class`."""

import sys

from resolute.training.launch.trial import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
