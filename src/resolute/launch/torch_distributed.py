"""One process per slot: `python -m resolute.launch.torch_distributed [--] script.py arguments`."""

import sys

from resolute.training.launch.torch_distributed import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
