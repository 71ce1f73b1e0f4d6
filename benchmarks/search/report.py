"""Races summed up: regret over spent epochs, ranks, goals. Text in the shape of a Markdown page."""

from collections.abc import Iterable, Mapping
from statistics import fmean, median

from benchmarks.search.race import Race
from benchmarks.search.task import Task

Results = Mapping[str, Mapping[str, list[Race]]]
"""Races by task name, then by contestant."""


def summarise(tasks: list[Task], results: Results, budget: int) -> str:
    names = list(next(iter(results.values())))
    lines = ["| suite | at | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    for suite in dict.fromkeys(task.suite for task in tasks):
        members = [task.name for task in tasks if task.suite == suite]
        for share, label in ((1 / 3, "third"), (1, "end")):
            row = [fmean(mean_regret(results[task][name], budget * share) for task in members) for name in names]
            lines.append(f"| {suite} | {label} | " + " | ".join(f"{value:.4f}" for value in row) + " |")
    ranks = mean_ranks(results, names, budget)
    lines.append("| mean rank | end | " + " | ".join(f"{ranks[name]:.2f}" for name in names) + " |")
    costs = {name: _cost(results, name) for name in names}
    lines.append("| us per decision | | " + " | ".join(f"{costs[name]:.0f}" for name in names) + " |")
    return "\n".join(lines)


def goals(tasks: list[Task], results: Results, budget: int) -> str:
    names = list(next(iter(results.values())))
    lines = []
    peers = [name for name in ("ray asha", "syne asha") if name in names]
    if peers and "adaptive_asha" in names:
        for suite in dict.fromkeys(task.suite for task in tasks):
            members = [task.name for task in tasks if task.suite == suite]
            scores = {
                name: [race.regret_at(budget) for task in members for race in results[task][name]]
                for name in ("adaptive_asha", *peers)
            }
            best = min(peers, key=lambda name: fmean(scores[name]))
            lines.append(
                f"- {suite}: adaptive_asha {_with_error(scores['adaptive_asha'])}, "
                f"best ASHA of the peers ({best}) {_with_error(scores[best])}"
            )
    if "adaptive_tpe" in names and "adaptive_asha" in names:
        shares = [_share_needed(results[task.name], budget) for task in tasks]
        reached = [share for share in shares if share is not None]
        third = sum(share <= 1 / 3 for share in reached)
        lines.append(
            f"- adaptive_tpe reaches adaptive_asha's final mean regret within a third of its epochs on {third} of "
            f"{len(tasks)} tasks, at all on {len(reached)}"
            + (f"; median share of epochs needed where reached: {median(reached):.2f}" if reached else "")
        )
    return "\n".join(lines)


def mean_regret(races: Iterable[Race], epochs: float) -> float:
    return fmean(race.regret_at(int(epochs)) for race in races)


def mean_ranks(results: Results, names: list[str], budget: int) -> dict[str, float]:
    ranks: dict[str, list[float]] = {name: [] for name in names}
    for races in results.values():
        for repeat in range(len(races[names[0]])):
            ends = {name: races[name][repeat].regret_at(budget) for name in names}
            for name in names:
                below = sum(ends[other] < ends[name] for other in names)
                equal = sum(ends[other] == ends[name] for other in names)
                ranks[name].append(below + (equal + 1) / 2)
    return {name: fmean(values) for name, values in ranks.items()}


def _share_needed(races: Mapping[str, list[Race]], budget: int) -> float | None:
    wanted = mean_regret(races["adaptive_asha"], budget)
    for epochs in range(32, budget + 1, 32):
        if mean_regret(races["adaptive_tpe"], epochs) <= wanted:
            return epochs / budget
    return None


def _with_error(values: list[float]) -> str:
    mean = fmean(values)
    spread = (sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)) ** 0.5
    return f"{mean:.4f} ± {spread / len(values) ** 0.5:.4f}"


def _cost(results: Results, name: str) -> float:
    races = [race for task in results.values() for race in task[name]]
    return 1e6 * sum(race.seconds for race in races) / sum(race.decisions for race in races)
