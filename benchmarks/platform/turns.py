"""This version and an earlier one, in turns, on one machine: python -m benchmarks.platform.turns CHECKOUT

CHECKOUT is another working tree of this repository (`git worktree add --detach FOLDER COMMIT`); both run in this
environment. A round measures one after the other, and who is first changes. A ratio is taken within a round, so that a
machine that others use is as busy for both. Medians over the rounds; a ratio above 1 means that this version is better.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.platform.master import running_master
from benchmarks.platform.measures import first_report_s, points_per_s, short_trials
from benchmarks.platform.start import start

HERE = Path(__file__).parents[2]
SMALLER_IS_BETTER = frozenset(
    {
        "ready after start, s",
        "processor time of a start, s",
        "submit to first report, s",
        "processor time of the master per no-op trial, ms",
    }
)
Figures = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=100, help="no-op trials a round")
    arguments = parser.parse_args()
    other = arguments.checkout.resolve()
    if not (other / "src/resolute").is_dir():
        parser.error(f"{other} is no working tree of this repository: it has no src/resolute.")
    rounds = list(take_turns(HERE, other, arguments.rounds, arguments.trials))
    print("\n| what | this | other | ratio |\n|---|---|---|---|")
    for what in rounds[0][0]:
        ours, theirs = ([each[side][what] for each in rounds] for side in (0, 1))
        print(f"| {what} | {_shown(ours)} | {_shown(theirs)} | {statistics.median(ratios(what, ours, theirs)):.2f}x |")


def take_turns(this: Path, other: Path, rounds: int, trials: int) -> Iterator[tuple[Figures, Figures]]:
    for number in range(rounds):
        order = (this, other) if number % 2 == 0 else (other, this)
        found = {checkout: figures(checkout, trials) for checkout in order}
        for name, checkout in (("this", this), ("other", other)):
            print(f"round {number + 1}, {name}: {found[checkout]}", flush=True)
        yield found[this], found[other]


def figures(checkout: Path, trials: int) -> Figures:
    with tempfile.TemporaryDirectory(prefix="resolute-bench-") as home:
        starts = [start(home, source=checkout / "src") for _ in range(3)]
    with running_master(source=checkout / "src") as master:
        time.sleep(8)
        first = first_report_s(master, repeats=9)
        many = short_trials(master, trials)
        return {
            "ready after start, s": statistics.median(each.wall_s for each in starts[1:]),
            "processor time of a start, s": statistics.median(each.processor_s for each in starts[1:]),
            "submit to first report, s": first,
            "no-op trials on 2 slots, 1/s": many.per_s,
            "processor time of the master per no-op trial, ms": many.master_ms,
            "durable metric points over HTTP, 1/s": points_per_s(master, 1, batches=20),
        }


def ratios(what: str, ours: list[float], theirs: list[float]) -> list[float]:
    pairs = zip(ours, theirs, strict=True)
    return [b / a if what in SMALLER_IS_BETTER else a / b for a, b in pairs]


def _shown(values: list[float]) -> str:
    middle = statistics.median(values)
    return f"{middle:,.0f}" if middle >= 1000 else f"{middle:.3g}"


if __name__ == "__main__":
    main()
