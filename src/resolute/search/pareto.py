"""Several objectives at once: who dominates whom, the Pareto set, and a best-first order. Losses: smaller is better."""

from collections.abc import Sequence

Losses = Sequence[float]


def dominates(one: Losses, other: Losses) -> bool:
    """No worse in any objective and better in at least one."""
    return all(a <= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)


def pareto_set(points: Sequence[Losses]) -> list[int]:
    """Positions of the points nobody dominates, in the order given. Equal points are all kept."""
    front: list[int] = []
    # A point can only be dominated by one that sorts before it, and then also by a member of the front.
    for position in sorted(range(len(points)), key=lambda at: tuple(points[at])):
        if not any(dominates(points[member], points[position]) for member in front):
            front.append(position)
    return sorted(front)


def best_first(points: Sequence[Losses]) -> list[int]:
    """Positions ordered by the number of points that dominate each, then by summed ranks, then by age."""
    beaten = [sum(dominates(other, point) for other in points) for point in points]
    ranks = [0] * len(points)
    for objective in range(len(points[0]) if points else 0):
        column = sorted(point[objective] for point in points)
        first = {value: rank for rank, value in reversed(list(enumerate(column)))}
        for position, point in enumerate(points):
            ranks[position] += first[point[objective]]
    return sorted(range(len(points)), key=lambda at: (beaten[at], ranks[at], at))
