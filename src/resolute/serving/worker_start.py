"""`python -m resolute.serving.worker_start DESCRIPTOR CONFINEMENT`: a model process that begins as a fresh interpreter.

It confines itself before it imports anything that starts threads: a thread keeps the rights it began with.
"""

import sys
from importlib import import_module

from resolute.serving.confinement.enter import enter
from resolute.serving.confinement.policy import Confinement


def main() -> None:
    entered = enter(Confinement.of_json(sys.argv[2]))
    worker_main = import_module("resolute.serving.worker_main")
    worker_main.main(int(sys.argv[1]), str(entered))


if __name__ == "__main__":
    main()
