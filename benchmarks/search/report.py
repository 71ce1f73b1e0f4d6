"""Races summed up: regret over spent epochs, ranks, goals. Text in the shape of a Markdown page."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median

from benchmarks.search.race import Race
from benchmarks.search.task import Task

Races = Mapping[int, Race]
"""By repeat."""
Results = Mapping[str, Mapping[str, Races]]
"""By task, then by contestant. A slow contestant may have fewer repeats than the others."""

MODEL = "adaptive_tpe"
SINGLE_BRACKET = ("adaptive_asha aggressive", "ray asha", "syne asha")
THREE_BRACKETS = ("adaptive_asha", "ray asha 3 brackets", "syne asha 3 brackets")
"""Ours first, then the peers' of the same kind."""


def summarise(tasks: list[Task], results: Results, budget: int) -> str:
    names = list(next(iter(results.values())))
    lines = ["| suite | at | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    for suite, members in _suites(tasks).items():
        for share, label in ((1 / 3, "third"), (1, "end")):
            row = [fmean(mean_regret(results[task][name], budget * share) for task in members) for name in names]
            lines.append(f"| {suite} | {label} | " + " | ".join(f"{value:.4f}" for value in row) + " |")
    ranks = mean_ranks(results, names, budget)
    lines.append("| mean rank | end | " + " | ".join(f"{ranks[name]:.2f}" for name in names) + " |")
    costs = {name: _cost(results, name) for name in names}
    lines.append("| us per decision | | " + " | ".join(f"{costs[name]:.0f}" for name in names) + " |")
    repeats = {name: min(len(races[name]) for races in results.values()) for name in names}
    lines.append("| repeats | | " + " | ".join(str(repeats[name]) for name in names) + " |")
    return "\n".join(lines)


def goals(tasks: list[Task], results: Results, budget: int) -> str:
    names = list(next(iter(results.values())))
    lines = []
    for ours, *peers in (THREE_BRACKETS, SINGLE_BRACKET):
        there = [name for name in peers if name in names]
        if ours in names and there:
            lines += _beside(tasks, results, budget, ours, there)
    if MODEL in names:
        for rival in ("adaptive_asha", *SINGLE_BRACKET):
            if rival in names:
                lines.append(_speed(tasks, results, budget, rival))
    return "\n".join(lines)


def _beside(tasks: list[Task], results: Results, budget: int, ours: str, peers: list[str]) -> list[str]:
    """Ours and the best peer of each suite, over the repeats that both have."""
    lines = []
    for suite, members in _suites(tasks).items():
        ends = {name: fmean(mean_regret(results[task][name], budget) for task in members) for name in peers}
        best = min(ends, key=ends.__getitem__)
        differences, here, there = [], [], []
        for task in members:
            for one, other in _paired(results[task][ours], results[task][best], budget):
                differences.append(one - other)
                here.append(one)
                there.append(other)
        lines.append(
            f"- {suite}: {ours} {_with_error(here)}, {best} {_with_error(there)}, difference {_with_error(differences)}"
        )
    return lines


def _speed(tasks: list[Task], results: Results, budget: int, rival: str) -> str:
    shares = {task.name: _share_needed(results[task.name], budget, rival) for task in tasks}
    reached = [share for share in shares.values() if share is not None]
    third = sum(share <= 1 / 3 for share in reached)
    needed = f"; median share of epochs needed where reached: {median(reached):.2f}" if reached else ""
    slow = ", ".join(
        f"{name} {'-' if share is None else format(share, '.2f')}"
        for name, share in shares.items()
        if share is None or share > 1 / 3
    )
    return (
        f"- {MODEL} reaches the final mean regret of {rival} within a third of its epochs on {third} of {len(tasks)} "
        f"tasks, at all on {len(reached)}{needed}. Later or never (-): {slow or 'none'}"
    )


def mean_regret(races: Races, epochs: float) -> float:
    return fmean(race.regret_at(int(epochs)) for race in races.values())


def mean_ranks(results: Results, names: list[str], budget: int) -> dict[str, float]:
    """Over the repeats that all contestants have."""
    ranks: dict[str, list[float]] = {name: [] for name in names}
    for races in results.values():
        shared = set.intersection(*(set(races[name]) for name in names))
        for repeat in sorted(shared):
            ends = {name: races[name][repeat].regret_at(budget) for name in names}
            for name in names:
                below = sum(ends[other] < ends[name] for other in names)
                equal = sum(ends[other] == ends[name] for other in names)
                ranks[name].append(below + (equal + 1) / 2)
    return {name: fmean(values) for name, values in ranks.items()}


def _paired(ours: Races, theirs: Races, budget: int) -> Iterable[tuple[float, float]]:
    for repeat in sorted(set(ours) & set(theirs)):
        yield ours[repeat].regret_at(budget), theirs[repeat].regret_at(budget)


def _share_needed(races: Mapping[str, Races], budget: int, rival: str) -> float | None:
    wanted = mean_regret(races[rival], budget)
    for epochs in range(32, budget + 1, 32):
        if mean_regret(races[MODEL], epochs) <= wanted:
            return epochs / budget
    return None


def _suites(tasks: Iterable[Task]) -> dict[str, list[str]]:
    suites: dict[str, list[str]] = {}
    for task in tasks:
        suites.setdefault(task.suite, []).append(task.name)
    return suites


def _with_error(values: Sequence[float]) -> str:
    mean = fmean(values)
    spread = (sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)) ** 0.5
    return f"{mean:.4f} ± {spread / len(values) ** 0.5:.4f}"


def _cost(results: Results, name: str) -> float:
    races = [race for task in results.values() for race in task[name].values()]
    return 1e6 * sum(race.seconds for race in races) / sum(race.decisions for race in races)
