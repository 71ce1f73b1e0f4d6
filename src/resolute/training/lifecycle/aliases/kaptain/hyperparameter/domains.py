"""Ranges and sets of values."""

from resolute.lifecycle import Categorical, Discrete, Domain, Double, Integer

__all__ = ["Categorical", "Discrete", "Domain", "Double", "Integer"]
