"""Where trials will end: from results at several training lengths to one expected final loss for each trial.

Each length is mapped to the next by a straight line through the trials that have reached both, and so on up to the
greatest length that some have reached. What the lines do not explain is the doubt about a trial that stopped early.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from resolute.search.objective import WORST

Vector = NDArray[np.float64]

_FEW = 3
"""Trials that a length needs before it counts."""
_EXPECTED_SLOPE = 0.7
"""Of standardised losses from one length to the next, where nothing is known; worth two trials."""
_LEAST_TRUST = 0.05
_FINAL_DOUBT = 0.05
"""Of a final loss, as a share of the spread: training again would not give the same."""


@dataclass(frozen=True, slots=True)
class Line:
    """Final loss = `offset` + `slope` * loss, give or take the square root of `variance`."""

    offset: float
    slope: float
    variance: float


@dataclass(frozen=True, slots=True)
class RungForecast:
    trials: list[int]
    """Once for each length that a trial has reached, lowest length first."""
    means: Vector
    """Expected final losses, beside `trials`, standardised: their average is 0, their spread 1."""
    doubts: Vector
    """Variances of `means` as observations of the truth."""


def forecast_from_rungs(levels: Mapping[int, tuple[Sequence[int], Sequence[float]]]) -> RungForecast:
    """From (trials, losses) at each length. A trial counts at each length it has reached."""
    results = {units: dict(zip(trials, _capped(losses), strict=True)) for units, (trials, losses) in levels.items()}
    lines = _lines([results[units] for units in sorted(results)])
    seen = [
        (trial, line.offset + line.slope * loss, line.variance)
        for units, line in zip(sorted(results), lines, strict=False)
        for trial, loss in results[units].items()
    ]
    expected = np.array([mean for _, mean, _ in seen])
    return _standardised([trial for trial, _, _ in seen], expected, np.array([variance for *_, variance in seen]))


def _standardised(trials: list[int], expected: Vector, variance: Vector) -> RungForecast:
    """A line through noisy losses is too flat; dividing by the share it explains gives noisy, unbiased observations."""
    if len(trials) == 0:
        return RungForecast(trials, expected, variance)
    centre = float(expected.mean())
    total = max(float(expected.var() + variance.mean()), 1e-300)
    trust = np.clip(1.0 - variance / total, _LEAST_TRUST, 1.0)
    means: Vector = (expected - centre) / trust / total**0.5
    doubts: Vector = variance / trust / total
    return RungForecast(trials, means, doubts)


def _lines(results: Sequence[Mapping[int, float]]) -> list[Line]:
    """One for each length, lowest first, up to the greatest that enough trials have reached."""
    top = max((at for at, losses in enumerate(results) if len(losses) >= _FEW), default=0)
    final = np.array(list(results[top].values()))
    line = Line(0.0, 1.0, max((_FINAL_DOUBT * float(final.std())) ** 2, 1e-18) if len(final) else 1.0)
    lines = [line]
    for lower, upper in zip(reversed(results[:top]), reversed(results[1 : top + 1]), strict=True):
        both = [trial for trial in upper if trial in lower]
        step = _line(np.array([lower[trial] for trial in both]), np.array([upper[trial] for trial in both]), lower)
        line = Line(
            line.offset + line.slope * step.offset,
            line.slope * step.slope,
            line.variance + line.slope**2 * step.variance,
        )
        lines.insert(0, line)
    return lines


def _line(x: Vector, y: Vector, lower: Mapping[int, float]) -> Line:
    if len(x) < _FEW:
        return Line(0.0, 1.0, float(np.var(list(lower.values()))) + 1e-18)
    scale = max(float(y.std()), 1e-12) / max(float(x.std()), 1e-12)
    prior = 2.0 * max(float(x.var()), 1e-24)
    away = x - x.mean()
    slope = float(away @ (y - y.mean())) + prior * _EXPECTED_SLOPE * scale
    slope = max(slope / (float(away @ away) + prior), 0.05 * scale)
    offset = float(y.mean()) - slope * float(x.mean())
    left = y - offset - slope * x
    # Half the spread, worth two trials, so that a few lucky ones do not make a line look certain.
    variance = (float(left @ left) + 0.5 * float(y.var())) / (len(x) + 1)
    return Line(offset, slope, variance)


def _capped(losses: Sequence[float]) -> list[float]:
    """Trials that went wrong are bad, not infinitely bad: they must not flatten the differences among the others."""
    values = np.array(losses, dtype=np.float64)
    sound = np.sort(values[values < WORST / 4])
    if len(sound) == 0:
        return [0.0] * len(values)
    usual = float(sound[min(3 * len(values) // 4, len(sound) - 1)])
    cap = usual + 1.5 * (usual - float(sound[0])) if len(sound) > _FEW else float(sound[-1])
    capped: list[float] = np.minimum(values, cap).tolist()
    return capped
