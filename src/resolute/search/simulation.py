"""What a simulated search came to: trials, lengths, wall time; as values, as the API's preview, and as text."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from resolute.search.base import BracketView

_WIDTH = 40


@dataclass(slots=True)
class SimulatedTrial:
    request_id: str
    hparams: dict[str, Any]
    units: int = 0
    """Trained so far."""
    target: int | None = None
    is_done: bool = False


@dataclass(slots=True)
class Simulation:
    unit: str
    length: int | None
    """A whole trial; None when the configuration does not say."""
    slots: int
    trials: list[SimulatedTrial] = field(default_factory=list)
    brackets: list[BracketView] = field(default_factory=list)
    total_units: int = 0
    wall_time: float = 0.0
    """In the units' own time: how long one trial on its own would take for as many units, times `seconds_per_unit`."""
    utilisation: float = 1.0
    """Share of the places that were busy until the last trial began."""
    decisions: int = 0

    def preview(self) -> list[dict[str, Any]]:
        """How many trials train how long, longest first, as the API's preview gives it."""
        counts = Counter(trial.units for trial in self.trials)
        return [
            {"count": counts[units], "unit": {"name": self.unit, "value": units, "maxLength": units == self.length}}
            for units in sorted(counts, reverse=True)
        ]

    def picture(self) -> str:
        """A few lines of text: rung by rung where there are rungs."""
        return _draw(self)


def _draw(simulation: Simulation) -> str:
    lines = [_headline(simulation), ""]
    for number, bracket in enumerate(simulation.brackets, start=1):
        rungs = f"{len(bracket.lengths)} rung{'s' if len(bracket.lengths) > 1 else ''}"
        lines.append(f"bracket {number}: {rungs}, {bracket.max_trials} trial{'s' if bracket.max_trials > 1 else ''}")
        most = max(bracket.reached, default=1)
        for at, (length, reached) in enumerate(zip(bracket.lengths, bracket.reached, strict=True)):
            lines.append(_row(f"rung {at}", length, simulation.unit, reached, most))
    if not simulation.brackets:
        counts = simulation.preview()[::-1]
        most = max((row["count"] for row in counts), default=1)
        for row in counts:
            lines.append(_row("", row["unit"]["value"], simulation.unit, row["count"], most))
    return "\n".join(lines)


def _headline(simulation: Simulation) -> str:
    trials = len(simulation.trials)
    text = f"{trials} trial{'s' if trials != 1 else ''}, {simulation.total_units:,} {simulation.unit} in all"
    if simulation.length and trials * simulation.length > simulation.total_units:
        share = simulation.total_units / (trials * simulation.length)
        text += f" ({share:.0%} of training every trial to the end)"
    slots = f"{simulation.slots} slot{'s' if simulation.slots != 1 else ''}"
    return f"{text}; wall time on {slots}: {_duration(simulation.wall_time)}"


def _row(name: str, length: int, unit: str, reached: int, most: int) -> str:
    bar = "█" * max(round(_WIDTH * reached / max(most, 1)), 1 if reached else 0)
    return f"  {name:<7} {length:>10,} {unit:<8} {bar} {reached}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 2 * 3600:
        return f"{seconds / 60:.0f} min"
    if seconds < 2 * 86400:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.1f} days"
