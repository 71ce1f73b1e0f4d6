"""A seeded random generator whose whole state is one 64-bit number.

A snapshot is written at every event; the standard library's generator would add 2,500 bytes-worth of words to each.
This is SplitMix64: good enough for sampling, and no use for cryptography. Ids drawn here are names, not secrets.
"""

import math

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


class Rng:
    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    @property
    def state(self) -> str:
        """Hexadecimal: JSON readers may round large integers."""
        return f"{self._state:016x}"

    @classmethod
    def of_state(cls, state: str) -> "Rng":
        return cls(int(state, 16))

    def bits(self) -> int:
        """64 random bits."""
        self._state = word = (self._state + _STEP) & _MASK
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
        return word ^ (word >> 31)

    def unit(self) -> float:
        """Uniform in [0, 1)."""
        return (self.bits() >> 11) * (1.0 / (1 << 53))

    def uniform(self, low: float, high: float) -> float:
        return low + self.unit() * (high - low)

    def below(self, limit: int) -> int:
        """Uniform in 0 .. limit - 1; the bias of the multiplication is below 2**-40 for any range a user writes."""
        return (self.bits() * limit) >> 64

    def normal(self) -> float:
        return math.sqrt(-2.0 * math.log(1.0 - self.unit())) * math.cos(2.0 * math.pi * self.unit())

    def seed(self) -> int:
        """A trial's seed: fits the 32-bit signed integers that frameworks take."""
        return self.bits() >> 33

    def uuid(self) -> str:
        """A version-4 shaped uuid."""
        high, low = self.bits(), self.bits()
        high = (high & ~0xF000) | 0x4000
        low = (low & 0x3FFFFFFFFFFFFFFF) | 0x8000000000000000
        text = f"{high:016x}{low:016x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
