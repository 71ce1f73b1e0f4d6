"""Ranges and sets of values."""

from resolute.client.lifecycle.domain import Categorical, Discrete, Domain, Double, Integer

__all__ = ["Categorical", "Discrete", "Domain", "Double", "Integer"]
