"""`python -m benchmarks.search.run`: race everyone who is installed and print a page of results."""

import argparse
import datetime
import os
import platform
import sys

from benchmarks.search import durable, report, synthetic, tables
from benchmarks.search.contestants import entries
from benchmarks.search.race import Race, race
from benchmarks.search.task import MAX_EPOCHS


def main() -> None:
    options = _options()
    field = {name: entry for name, entry in entries().items() if not options.only or name in options.only}
    tasks = [task for task in (*synthetic.tasks(), *tables.tasks()) if not options.tasks or task.name in options.tasks]
    budget = options.trials * MAX_EPOCHS
    results: dict[str, dict[str, list[Race]]] = {}
    for task in tasks:
        results[task.name] = {
            name: [
                race(entry(task, repeat, options.workers), task, repeat=repeat, budget=budget, workers=options.workers)
                for repeat in range(options.repeats)
            ]
            for name, entry in field.items()
        }
        ends = {name: report.mean_regret(races, budget) for name, races in results[task.name].items()}
        print(f"{task.suite}/{task.name}: " + ", ".join(f"{name} {end:.4f}" for name, end in ends.items()), flush=True)
    print(
        f"\n{_machine()}; {len(tasks)} tasks, {options.repeats} repeats, {budget} epochs, {options.workers} workers\n"
    )
    print(report.summarise(tasks, results, budget))
    print()
    print(report.goals(tasks, results, budget))
    if options.durable:
        print("\ntrials per second with every decision on disk:")
        for name, rate in durable.measure(seconds=options.durable).items():
            print(f"- {name}: {rate:.0f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--trials", type=int, default=40, help="budget, in trainings of full length")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--only", nargs="*", help="names of contestants")
    parser.add_argument("--tasks", nargs="*", help="names of tasks")
    parser.add_argument("--durable", type=float, default=5.0, help="seconds for each durability measurement; 0: none")
    return parser.parse_args()


def _machine() -> str:
    day = datetime.datetime.now(tz=datetime.UTC).date()
    return f"{day}, {platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}"


if __name__ == "__main__":
    main()
