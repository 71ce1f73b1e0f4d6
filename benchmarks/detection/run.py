"""COCO evaluation beside hotcoco and pycocotools, merging beside SAHI, sliced inference in batches beside one by one.

    RESOLUTE_SAHI_PYTHON=.../bin/python python -m benchmarks.detection.run [evaluation merging slicing] [--device cuda]

Prints Markdown tables. All sides get the same input; the best of `--rounds` counts, taken in turns where both run here.
Without SAHI's Python its column stays empty. Sliced inference needs a real model: on a GPU the figure means something,
on a processor it only shows that batches do no harm.
"""

import argparse
import os
import platform
from datetime import UTC, datetime
from importlib import import_module

PARTS = ("evaluation", "merging", "slicing")


def main() -> None:
    options = _options()
    load = os.getloadavg()[0]
    print(f"{datetime.now(UTC):%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores, load before {load:.1f}\n")
    for name in options.parts or PARTS:
        print(f"## {name}\n")
        # Each part has peers of its own; what is not measured need not be installed.
        import_module(f"benchmarks.detection.{name}").measure(options)
        print(flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Detection beside its peers.")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="All of them when left out.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--images", type=int, default=5000, help="Of the evaluation.")
    parser.add_argument("--boxes", type=int, default=33_337, help="Of merging.")
    parser.add_argument("--device", default="", help="Of sliced inference; left out, that part uses the processor.")
    parser.add_argument(
        "--side", type=int, default=0, help="Of the sliced image; 1,280 on a processor, 10,240 on a GPU."
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
