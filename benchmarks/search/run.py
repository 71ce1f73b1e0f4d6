"""`python -m benchmarks.search.run`: race everyone who is installed and print a page of results.

Every race is kept on disk as it ends; a second call goes on where the first was stopped. How fast decisions come to the
disk is measured by `benchmarks.search.durable`, in the environment of the platform.
"""

import argparse
import datetime
import os
import platform
import sys
from pathlib import Path

from benchmarks.search import report, synthetic, tables
from benchmarks.search.archive import Archive
from benchmarks.search.contestants import Entry, entries
from benchmarks.search.race import race
from benchmarks.search.task import MAX_EPOCHS, Task


def main() -> None:
    options = _options()
    known = entries(options.trials)
    field = {name: known[name] for name in options.only or known if name in known}
    tasks = [task for task in (*synthetic.tasks(), *tables.tasks()) if not options.tasks or task.name in options.tasks]
    budget = options.trials * MAX_EPOCHS
    archive = Archive(options.results, budget=budget, workers=options.workers)
    repeats = range(options.first, options.first + options.repeats)
    for name in options.again or ():
        archive.forget(name)
    for name, entry in field.items():
        _run(archive, name, entry, tasks, repeats=repeats, budget=budget, workers=options.workers)
    results = {task.name: {name: _races(archive, name, task) for name in field} for task in tasks}
    print(f"\n{_machine()}; {len(tasks)} tasks, {budget} epochs, {options.workers} workers\n")
    print(report.summarise(tasks, results, budget))
    print()
    print(report.goals(tasks, results, budget))


def _run(
    archive: Archive, name: str, entry: Entry, tasks: list[Task], *, repeats: range, budget: int, workers: int
) -> None:
    """Repeat by repeat, so that a contestant that is stopped half-way has been seen on every task."""
    done = archive.races(name)
    for repeat in repeats:
        for task in tasks:
            if (task.name, repeat) in done:
                continue
            result = race(entry(task, repeat, workers), task, repeat=repeat, budget=budget, workers=workers)
            archive.add(name, task.name, repeat, result)
        print(f"{name}: repeat {repeat}, up to {repeats[-1]}", file=sys.stderr, flush=True)


def _races(archive: Archive, name: str, task: Task) -> report.Races:
    return {repeat: each for (at, repeat), each in archive.races(name).items() if at == task.name}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument(
        "--first", type=int, default=0, help="first repeat; use 100 or more, and another folder, while developing"
    )
    parser.add_argument("--trials", type=int, default=40, help="budget, in trainings of full length")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--only", nargs="*", help="names of contestants, in the order to race them")
    parser.add_argument("--tasks", nargs="*", help="names of tasks")
    parser.add_argument("--again", nargs="*", help="names of contestants whose kept races are thrown away")
    parser.add_argument("--results", type=Path, default=Path("build/search-races"), help="folder for the races")
    return parser.parse_args()


def _machine() -> str:
    day = datetime.datetime.now(tz=datetime.UTC).date()
    return f"{day}, {platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}"


if __name__ == "__main__":
    main()
